"""The toy study: does aligning a domain that is unlike the others hurt, and does H-divergence tell?"""
