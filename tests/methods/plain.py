"""Every method again, for one run, as its formula reads: loops over domains, pairs, classes and samples.

Nothing here is shared with the package. `Twin` is the HHAR network in PyTorch's own layers, with the
parameter names of the run-axis network, so that weights are copied by name.
"""

from collections import Counter
from copy import deepcopy
from itertools import combinations

import numpy as np
import torch
import torch.nn.functional as F
from scipy import stats
from scipy.optimize import brentq
from torch import nn

CLASSES = 3


class Featurizer(nn.Module):
    def __init__(self, shapes):
        super().__init__()
        self.convs = nn.ModuleList(nn.Conv1d(i, o, k, padding=1) for i, o, k in shapes)
        self.norms = nn.ModuleList(nn.BatchNorm1d(o) for _, o, _ in shapes)

    def forward(self, x):
        for conv, norm in zip(self.convs, self.norms, strict=True):
            x = F.leaky_relu(norm(conv(x)), 0.01)
        return x.mean(-1)


class Twin(nn.Module):
    """The network of run r of a pack."""

    def __init__(self, network, r):
        super().__init__()
        state = {name: value[r].clone() for name, value in network.state_dict().items()}
        kernels = [value for name, value in state.items() if "convs" in name and name.endswith("weight")]
        self.featurizer = Featurizer([(w.shape[1], w.shape[0], w.shape[2]) for w in kernels])
        self.classifier = nn.Sequential(nn.Linear(*reversed(state["classifier.0.weight"].shape)))
        self.double()
        missing, unexpected = self.load_state_dict(state, strict=False)
        assert not unexpected
        assert all(name.endswith("num_batches_tracked") for name in missing)

    def forward(self, x):
        return self.classifier(self.featurizer(x))


class Plain:
    """ERM, and what the others share. A batch is ``x: (D, B, C, T)``, ``y: (D, B)``."""

    betas = (0.9, 0.999)
    iterations = 5

    def __init__(self, network, hp, *, per_domain, adam, decay_from, decay, cluster=None, **options):
        self.network, self.hp, self.per_domain, self.cluster = network, hp, per_domain, cluster
        self.lr, self.weight_decay = adam
        self.decay_from, self.decay = decay_from, decay
        self.options = options
        self.iteration = 0
        self.optimizer = self.adam(network)
        self.setup()

    def setup(self):
        pass

    def adam(self, network):
        return torch.optim.Adam(network.parameters(), self.lr, self.betas, weight_decay=self.weight_decay)

    def features(self, batches):
        """Features of each batch of a list: normalized each by itself, or all together."""
        if self.per_domain:
            return [self.network.featurizer(x) for x in batches]
        return self.network.featurizer(torch.cat(list(batches))).split(len(batches[0]))

    def logits(self, batches):
        return [self.network.classifier(z) for z in self.features(batches)]

    def update(self, x, y, draws):
        loss = self.objective(x, y, draws)
        self.optimizer.zero_grad()
        loss.backward()
        self.step(self.optimizer, self.lr)
        self.iteration += 1

    def step(self, optimizer, lr):
        optimizer.param_groups[0]["lr"] = lr * (self.decay if self.iteration >= self.decay_from else 1)
        optimizer.step()

    def objective(self, x, y, draws):
        return F.cross_entropy(torch.cat(self.logits(x)), y.flatten())


class Annealed(Plain):
    def objective(self, x, y, draws):
        logits = self.logits(x)
        risks = torch.stack([F.cross_entropy(g, labels) for g, labels in zip(logits, y, strict=True)])
        weight = self.hp["lambda"] if self.iteration >= self.hp["annealing"] else 1
        if self.iteration == self.hp["annealing"]:
            self.optimizer = self.adam(self.network)
        return risks.mean() + weight * self.penalty(logits, y, risks)


class IRM(Annealed):
    def penalty(self, logits, y, risks):
        def slope(g, labels):  # d/ds of the mean of log(sum_k exp(s g_k)) - s g_y, at s = 1
            return ((g.softmax(1) * g).sum(1) - g[range(len(g)), labels]).mean()

        products = [slope(g[0::2], u[0::2]) * slope(g[1::2], u[1::2]) for g, u in zip(logits, y, strict=True)]
        return sum(products) / len(products)


class VREx(Annealed):
    def penalty(self, logits, y, risks):
        return ((risks - risks.mean()) ** 2).mean()


class IBERM(Plain):
    def objective(self, x, y, draws):
        if self.iteration == self.hp["annealing"]:
            self.optimizer = self.adam(self.network)
        features = self.features(x)
        risk = F.cross_entropy(self.network.classifier(torch.cat(list(features))), y.flatten())
        spread = sum(z.var(0).mean() for z in features) / len(features)
        return risk + (self.hp["lambda"] if self.iteration >= self.hp["annealing"] else 0) * spread


class Fishr(Plain):
    def setup(self):
        self.average, self.begin = None, int(self.hp["burn_in"] * self.iterations)

    def objective(self, x, y, draws):
        if self.iteration == self.begin:
            self.optimizer = self.adam(self.network)
        parameters = list(self.network.classifier[-1].parameters())
        risk, variances = 0, []
        for z, labels in zip(self.features(x), y, strict=True):
            each = []
            for g, label in zip(self.network.classifier(z), labels, strict=True):
                loss = F.cross_entropy(g[None], label[None])
                risk = risk + loss / y.numel()
                found = torch.autograd.grad(loss, parameters, create_graph=True)
                each.append(torch.cat([gradient.flatten() for gradient in found]))
            variances.append(torch.stack(each).var(0, unbiased=False))
        new, keep = torch.stack(variances), self.hp["average"]
        average = (1 - keep) * new + (0 if self.average is None else keep * self.average)
        self.average = average.detach()
        scaled = average / (1 - keep)
        penalty = sum(((v - scaled.mean(0)) ** 2).mean() for v in scaled) / len(scaled)
        return risk + (self.hp["lambda"] * penalty if self.iteration >= self.begin else 0)


class EQRM(Plain):
    def setup(self):
        self.begin = int(self.hp["burn_in"] * self.iterations)

    def objective(self, x, y, draws):
        risks = [F.cross_entropy(g, labels) for g, labels in zip(self.logits(x), y, strict=True)]
        if self.iteration < self.begin:
            return sum(risks) / len(risks)
        if self.iteration == self.begin:
            self.lr, self.optimizer = self.hp["quantile_lr"], self.adam(self.network)
        values = np.array([risk.item() for risk in risks])
        slopes = [quantile_slope(values, d, self.hp["quantile"]) for d in range(len(risks))]
        return sum(slope * risk for slope, risk in zip(slopes, risks, strict=True))


class SD(Plain):
    def objective(self, x, y, draws):
        logits = torch.cat(self.logits(x))
        return F.cross_entropy(logits, y.flatten()) + self.hp["lambda"] * logits.pow(2).sum() / logits.numel()


class RDM(Plain):
    def setup(self):
        self.begin = int(self.hp["burn_in"] * self.iterations)

    def objective(self, x, y, draws):
        each = [F.cross_entropy(g, u, reduction="none") for g, u in zip(self.logits(x), y, strict=True)]
        risk = torch.cat(each).mean()
        if self.iteration < self.begin:
            return risk
        if self.iteration == self.begin:
            self.lr, self.optimizer = self.hp["matching_lr"], self.adam(self.network)
        worst, pooled = max(each, key=lambda losses: losses.mean().item()), torch.cat(each)
        gammas = [10.0**k for k in range(-4, 4)]

        def kernel(a, b):
            return sum(torch.exp(-gamma * (u - v) ** 2) for gamma in gammas for u in a for v in b) / (
                len(a) * len(b)
            )

        discrepancy = kernel(worst, worst) + kernel(pooled, pooled) - 2 * kernel(worst, pooled)
        spread = worst.var() + pooled.var()
        return risk + self.hp["lambda"] * discrepancy + self.hp["variance"] * spread


class Fish(Plain):
    def setup(self):
        self.inner = deepcopy(self.network)
        self.optimizer = self.adam(self.inner)

    def update(self, x, y, draws):
        self.inner.load_state_dict(self.network.state_dict())
        for d in draws["order"].tolist():
            if self.per_domain:
                logits = self.inner(x[d])
            else:
                logits = self.inner(torch.cat(list(x)))[d * x.shape[1] : (d + 1) * x.shape[1]]
            self.optimizer.zero_grad()
            F.cross_entropy(logits, y[d]).backward()
            self.step(self.optimizer, self.lr)
        walked = self.inner.state_dict()
        moved = {
            name: old + self.hp["epsilon"] * (walked[name] - old) if old.is_floating_point() else old
            for name, old in self.network.state_dict().items()
        }
        self.network.load_state_dict(moved)
        self.iteration += 1


class ANDMask(Plain):
    def update(self, x, y, draws):
        parameters = list(self.network.parameters())
        risks = [F.cross_entropy(g, u) for g, u in zip(self.logits(x), y, strict=True)]
        gradients = [torch.autograd.grad(risk, parameters, retain_graph=True) for risk in risks]
        for i, parameter in enumerate(parameters):
            of_domains = np.stack([gradient[i].flatten().numpy() for gradient in gradients], 1)
            kept = np.zeros(len(of_domains))
            for weight, slopes in enumerate(of_domains):
                if abs((slopes > 0).sum() - (slopes < 0).sum()) >= self.hp["tau"] * len(risks):
                    kept[weight] = slopes.mean()
            share = max((kept != 0).mean(), 1e-10)
            parameter.grad = torch.from_numpy(kept / share).view_as(parameter)
        self.step(self.optimizer, self.lr)
        self.iteration += 1


class LISA(Plain):
    def objective(self, x, y, draws):
        places = [(d, b) for d in range(len(x)) for b in range(x.shape[1])]
        mixed, partners = torch.empty_like(x), {}
        for d, b in places:
            if draws["intra_label"]:
                fitting = [(e, c) for e, c in places if e != d and y[e, c] == y[d, b]]
            else:
                fitting = [(e, c) for e, c in places if e == d and y[e, c] != y[d, b]]
            chosen = fitting[int(draws["choice"][d, b] * len(fitting))] if fitting else (d, b)
            share = draws["mixing"][d, b]
            mixed[d, b] = share * x[d, b] + (1 - share) * x[chosen]
            partners[d, b] = chosen
        logits, total = self.logits(mixed), 0
        for (d, b), chosen in partners.items():
            share, logs = draws["mixing"][d, b], logits[d][b].log_softmax(0)
            total = total - share * logs[y[d, b]] - (1 - share) * logs[y[chosen]]
        return total / len(places)


class MixStyle(Plain):
    def objective(self, x, y, draws):
        featurizer, size = self.network.featurizer, x.shape[1]
        parts = list(x) if self.per_domain else [torch.cat(list(x))]
        for layer, (conv, norm) in enumerate(zip(featurizer.convs, featurizer.norms, strict=True)):
            made = torch.cat([F.leaky_relu(norm(conv(part)), 0.01) for part in parts])
            mixed = []
            for n, own in enumerate(made):
                d, b = divmod(n, size)
                other = made[draws["partners"][layer, d, b]].detach()
                share = draws["own"][layer, d, b]
                mean, spread, other_mean, other_spread = (
                    s for z in (own.detach(), other) for s in (z.mean(1), (z.var(1, False) + 1e-6).sqrt())
                )
                mean_of_both = share * mean + (1 - share) * other_mean
                spread_of_both = share * spread + (1 - share) * other_spread
                normal = (own - mean[:, None]) / spread[:, None]
                mixed.append(normal * spread_of_both[:, None] + mean_of_both[:, None])
            parts = torch.stack(mixed).split(size if self.per_domain else len(made))
        logits = self.network.classifier(torch.cat(list(parts)).mean(-1))
        return F.cross_entropy(logits, y.flatten())


def quantile_by_root(values, alpha):
    """Quantile of the kernel density estimate of Gaussian-optimal bandwidth."""
    width = 1.06 * values.std(ddof=1) * len(values) ** -0.2
    ends = values.min() - 9 * width, values.max() + 9 * width
    return brentq(lambda t: stats.norm.cdf(t, values, width).mean() - alpha, *ends, xtol=1e-15, rtol=1e-15)


def quantile_slope(values, d, alpha, step=1e-4):
    """Its derivative with respect to value d, by differences of fourth order."""
    unit = np.eye(len(values))[d] * step
    at = [quantile_by_root(values + k * unit, alpha) for k in (-2, -1, 1, 2)]
    return (at[0] - 8 * at[1] + 8 * at[2] - at[3]) / (12 * step)


class GroupDRO(Plain):
    def setup(self):
        self.q = None

    def objective(self, x, y, draws):
        risks = [F.cross_entropy(g, labels) for g, labels in zip(self.logits(x), y, strict=True)]
        q = self.q or [1.0] * len(risks)
        q = [weight * np.exp(self.hp["eta"] * risk.item()) for weight, risk in zip(q, risks, strict=True)]
        self.q = [weight / sum(q) for weight in q]
        return sum(weight * risk for weight, risk in zip(self.q, risks, strict=True))


class Mixup(Plain):
    def objective(self, x, y, draws):
        pairs = list(zip(draws["pairs"].tolist(), draws["mixing"].tolist(), strict=True))
        logits = self.logits([m * x[i] + (1 - m) * x[j] for (i, j), m in pairs])
        total = 0
        for g, ((i, j), m) in zip(logits, pairs, strict=True):
            total = total + m * F.cross_entropy(g, y[i]) + (1 - m) * F.cross_entropy(g, y[j])
        return total / len(pairs)


class MLDG(Plain):
    def update(self, x, y, draws):
        pairs = draws["pairs"].tolist()
        gradient = [torch.zeros_like(p) for p in self.network.parameters()]
        for i, j in pairs:
            copy = deepcopy(self.network)
            at_old = torch.autograd.grad(F.cross_entropy(copy(x[i]), y[i]), list(copy.parameters()))
            for p, g in zip(copy.parameters(), at_old, strict=True):
                p.grad = g
            self.adam(copy).step()
            at_new = torch.autograd.grad(F.cross_entropy(copy(x[j]), y[j]), list(copy.parameters()))
            for total, old, new in zip(gradient, at_old, at_new, strict=True):
                total += (old + self.hp["beta"] * new) / len(pairs)
        if not self.per_domain:
            self.network(x.flatten(0, 1))  # moves the running averages
        for p, g in zip(self.network.parameters(), gradient, strict=True):
            p.grad = g
        self.step(self.optimizer, self.lr)
        self.iteration += 1


class MTL(Plain):
    def objective(self, x, y, draws):
        total = 0
        for d, z in enumerate(self.features(x)):
            if self.options["embedding"] == "noise":
                embedding = draws["noise"][d]
            else:
                a = self.hp["a"]
                embedding = a * z.mean(0) + (1 - a) * self.embeddings[d]
                self.embeddings[d] = embedding.detach()
            logits = self.network.classifier(torch.cat([z, embedding.expand_as(z)], 1))
            total = total + F.cross_entropy(logits, y[d])
        return total


class Correlation(Plain):
    def objective(self, x, y, draws):
        z, labels = torch.cat(list(self.features(x))), y.flatten()
        spread = 0
        for k in labels.unique():
            of_class = z[labels == k]
            spread = spread + ((of_class - of_class.mean(0)) ** 2).sum()
        return F.cross_entropy(self.network.classifier(z), labels) + self.hp["lambda"] * spread


class RSC(Plain):
    def objective(self, x, y, draws):
        z, labels = torch.cat(list(self.features(x))), y.flatten()
        classify, rows = self.network.classifier, range(len(labels))
        (gradient,) = torch.autograd.grad(classify(z)[rows, labels].sum(), z, retain_graph=True)
        keep = torch.ones_like(z)
        for i in rows:
            keep[i] = gradient[i] < np.quantile(gradient[i].numpy(), 1 - self.hp["p"])
        with torch.no_grad():
            fall = classify(z).softmax(1)[rows, labels] - classify(z * keep).softmax(1)[rows, labels]
        for i in rows:
            if fall[i] < np.quantile(fall.numpy(), 1 - self.hp["b"]):
                keep[i] = 1
        return F.cross_entropy(classify(z * keep), labels)


class DANN(Plain):
    """`discriminator` (nn.Sequential) and, for CDANN, `embedding` (K, F) are set before the first update."""

    def setup(self):
        self.betas = (self.hp["beta1"], 0.9)
        self.optimizer = self.adam(self.network)

    def adam_of_discriminator(self):
        lr, weight_decay = self.hp["discriminator_lr"], self.hp["discriminator_weight_decay"]
        parameters = [*self.discriminator.parameters(), *self.embedding]
        return torch.optim.Adam(parameters, lr, self.betas, weight_decay=weight_decay)

    def update(self, x, y, draws):
        if self.iteration == 0:
            self.discriminator_optimizer = self.adam_of_discriminator()
        z, labels = torch.cat(list(self.features(x))), y.flatten()
        seen = self.seen(z, labels)
        domain = torch.arange(len(x)).repeat_interleave(x.shape[1])
        each = F.cross_entropy(self.discriminator(seen), domain, reduction="none")
        roughness = 0
        for i in range(len(z)):
            (gradient,) = torch.autograd.grad(each[i], seen, create_graph=True)
            roughness = roughness + (gradient[i] ** 2).sum() / len(z)
        adversary = self.weigh(each, labels) + self.hp["gradient_penalty"] * roughness
        k = self.hp["discriminator_steps"]
        if self.iteration % (1 + k) < k:
            self.discriminator_optimizer.zero_grad()
            adversary.backward()
            self.step(self.discriminator_optimizer, self.hp["discriminator_lr"])
        else:
            risk = F.cross_entropy(self.network.classifier(z), labels)
            self.optimizer.zero_grad()
            (risk - self.hp["lambda"] * adversary).backward()
            self.step(self.optimizer, self.lr)
        self.iteration += 1

    def seen(self, z, labels):
        return z

    def weigh(self, each, labels):
        return each.mean()


class CDANN(DANN):
    def seen(self, z, labels):
        return z + self.embedding[0][labels]

    def weigh(self, each, labels):
        return sum(loss / ((labels == k).sum() * CLASSES) for loss, k in zip(each, labels, strict=True))


class Alignment(Plain):
    def objective(self, x, y, draws):
        z = self.features(x)
        risks = [F.cross_entropy(self.network.classifier(f), labels) for f, labels in zip(z, y, strict=True)]
        penalties = [self.discrepancy(a, b) for a, b in combinations(z, 2)]
        return sum(risks) / len(risks) + self.hp["lambda"] * sum(penalties) / len(penalties)


class CORAL(Alignment):
    def discrepancy(self, a, b):
        means = ((a.mean(0) - b.mean(0)) ** 2).mean()
        return means + ((torch.cov(a.T) - torch.cov(b.T)) ** 2).mean()  # torch.cov divides by n - 1


def squared_mmd(a, b):
    def kernel(a, b):
        squared = ((a[:, None] - b[None]) ** 2).sum(-1)
        return sum(torch.exp(-gamma * squared).mean() for gamma in (1e-3, 1e-2, 1e-1, 1, 10, 100, 1000))

    return kernel(a, a) + kernel(b, b) - 2 * kernel(a, b)


class MMD(Alignment):
    def discrepancy(self, a, b):
        return squared_mmd(a, b)


def class_mean(values, labels, k):
    """Mean of the samples of a class, None if there is none."""
    return values[labels == k].mean(0) if (labels == k).any() else None


class Ours(Plain):
    def objective(self, x, y, draws):
        z = self.features(x)
        logits = [self.network.classifier(f) for f in z]
        values = {"logits": logits, "features": z, "soft_labels": [g.softmax(1) for g in logits]}
        values = values[self.options.get("regularize", "logits")]
        omega = self.inconsistency(values, logits, y, draws)
        return F.cross_entropy(torch.cat(logits), y.flatten()) + self.hp["lambda"] * omega

    def inconsistency(self, values, logits, y, draws):
        weight = self.weights([g.detach() for g in logits], y, draws)
        omega = 0
        for i in range(len(y)):
            for j in range(len(y)):
                for k in range(CLASSES):
                    a, b = values[i][y[i] == k], values[j][y[j] == k]
                    if len(a) and len(b):
                        omega = omega + weight[i][j] * self.difference(a, b)
        return omega

    def difference(self, a, b):
        if self.options.get("kernel") == "gaussian":
            return squared_mmd(a, b)
        return ((a.mean(0) - b.mean(0)) ** 2).sum()


def distance(kind, member, centroid):
    if kind == "kl":
        return sum(p * torch.log(p / q) for p, q in zip(member, centroid, strict=True))
    if kind == "cosine":
        return 1 - (member @ centroid) / (member.norm() * centroid.norm())
    return ((member - centroid) ** 2).sum()


class OursMetadata(Ours):
    def weights(self, logits, y, draws):
        c = self.cluster
        return [[(c[i] == c[j]) / (2 * c.count(c[i])) for j in range(len(c))] for i in range(len(c))]

    def inconsistency(self, values, logits, y, draws):
        kind, level = self.options.get("distance", "l2"), self.options.get("level", "domain")
        if (kind, level) == ("l2", "domain"):
            return super().inconsistency(values, logits, y, draws)
        omega = 0
        for d in range(len(y)):
            for k in range(CLASSES):
                cluster = [e for e in range(len(y)) if self.cluster[e] == self.cluster[d] and k in y[e]]
                members = values[d][y[d] == k]
                if len(members):
                    centroid = sum(class_mean(values[e], y[e], k) for e in cluster) / len(cluster)
                    members = members if level == "sample" else [members.mean(0)]
                    omega = omega + sum(distance(kind, m, centroid) for m in members) / len(members)
        return omega


class OursLearned(Ours):
    first_refresh = 0

    def setup(self):
        self.seen = []

    def weights(self, logits, y, draws):
        self.seen.append((logits, y))
        if (self.iteration - self.first_refresh) % self.options["every"] == 0:
            self.pair_weights = self.refresh(draws)
            self.seen = []
        return self.pair_weights

    def refresh(self, draws):
        domains = range(len(self.seen[0][1]))
        weight = np.zeros((len(domains), len(domains)))
        for i in domains:
            votes, distances = Counter(), {j: [] for j in domains if j != i}
            for k in range(CLASSES):
                of_class = {j: self.distance(i, j, k) for j in distances}
                of_class = {j: d for j, d in of_class.items() if d is not None}
                for j, d in of_class.items():
                    distances[j].append(d)
                if of_class:
                    votes[min(of_class, key=of_class.get)] += 1
            mean = {j: np.mean(d) if d else np.inf for j, d in distances.items()}
            best = min(distances, key=lambda j, votes=votes, mean=mean: (-votes[j], mean[j]))
            if self.options.get("neighbour") == "random":
                best = int(draws["neighbours"][i])
            if distances[best]:
                weight[i, best] = np.mean([self.rbf(d) for d in distances[best]])
        return weight

    def distance(self, i, j, k):
        """Between the class centroids of two domains, over all logits since the last refresh."""
        a, b = (
            class_mean(torch.cat([g[d] for g, _ in self.seen]), torch.cat([y[d] for _, y in self.seen]), k)
            for d in (i, j)
        )
        return None if a is None or b is None else (a - b).norm().item()

    def rbf(self, d):
        form, xi = self.options.get("rbf", "bandwidth"), self.hp["xi"]
        return {"bandwidth": np.exp(-(d**2) / (2 * xi**2)), "gamma": np.exp(-xi * d**2), "one": 1}[form]


class RSCOursMetadata(OursMetadata):
    def objective(self, x, y, draws):
        return RSC.objective(self, x, y, draws) if self.iteration % 2 == 0 else super().objective(x, y, draws)


class RSCOursLearned(OursLearned):
    first_refresh = 1

    def objective(self, x, y, draws):
        return RSC.objective(self, x, y, draws) if self.iteration % 2 == 0 else super().objective(x, y, draws)


PLAIN = {
    "erm": Plain,
    "irm": IRM,
    "vrex": VREx,
    "groupdro": GroupDRO,
    "mixup": Mixup,
    "mldg": MLDG,
    "mtl": MTL,
    "correlation": Correlation,
    "rsc": RSC,
    "dann": DANN,
    "cdann": CDANN,
    "coral": CORAL,
    "mmd": MMD,
    "ours-metadata": OursMetadata,
    "ours-learned": OursLearned,
    "rsc-ours-metadata": RSCOursMetadata,
    "rsc-ours-learned": RSCOursLearned,
    "fishr": Fishr,
    "eqrm": EQRM,
    "ib-erm": IBERM,
    "sd": SD,
    "rdm": RDM,
    "fish": Fish,
    "and-mask": ANDMask,
    "lisa": LISA,
    "mixstyle": MixStyle,
}
