"""A Slurm of one node for tests: its own key, ports and folders, no systemd, no accounting."""

import os
import shutil
import socket
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import psutil

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scontrol")
ETC = Path("/etc/slurm")
CONFIG = """\
ClusterName={cluster}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SchedulerParameters=batch_sched_delay=0,sched_interval=1,sched_min_interval=0
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=1
MinJobAge=900
JobRequeue=0
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
GresTypes=gpu
NodeName={host} NodeAddr=127.0.0.1 CPUs=4 RealMemory=16000 Gres=gpu:1
PartitionName=cpu Nodes={host} Default=YES
PartitionName=gpu Nodes={host}
"""


class Slurm:
    """Start with `start`, end with `stop`; between them `environment` is what its clients need.

    A step of Snakemake's Slurm plugin forgets SLURM_CONF and looks in /etc/slurm: the configuration is linked
    there too.
    """

    def __init__(self, folder: Path):
        self.folder, self.host = folder, socket.gethostname().partition(".")[0]
        self.cluster = f"test{os.getpid()}"
        self.daemons: list[subprocess.Popen] = []
        self.links = {name: ETC / name for name in ("slurm.conf", "gres.conf")}

    @staticmethod
    def missing() -> str:
        """Why no Slurm can be started here; empty where it can."""
        absent = [name for name in PROGRAMS if not shutil.which(name)]
        if absent:
            return f"{', '.join(absent)} not installed (Debian: apt-get install slurm-wlm munge)"
        if os.geteuid() != 0:
            return "starting Slurm's daemons needs root"
        return "there is a Slurm configuration in /etc/slurm" if (ETC / "slurm.conf").exists() else ""

    @property
    def environment(self) -> dict[str, str]:
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def start(self) -> None:
        self.folder.chmod(0o755)
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        controller_port, node_port = _free_ports(2)
        config = CONFIG.format(
            cluster=self.cluster, host=self.host, folder=self.folder, controller_port=controller_port,
            node_port=node_port,
        )  # fmt: skip
        (self.folder / "slurm.conf").write_text(config)
        # A GPU is a device file to Slurm; every machine has this one.
        (self.folder / "gres.conf").write_text(f"NodeName={self.host} Name=gpu File=/dev/null\n")
        ETC.mkdir(exist_ok=True)
        for name, link in self.links.items():
            link.unlink(missing_ok=True)  # of a test that was killed: it points nowhere
            link.symlink_to(self.folder / name)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o400)
        places = {"key-file": key} | {
            f"{name}-file": self.folder / f"munge.{name}" for name in ("pid", "log", "seed")
        }
        options = [f"--{name}={path}" for name, path in places.items()]
        self._daemon("munged", "--foreground", "--force", f"--socket={self.folder}/munge.socket", *options)
        _wait_for((self.folder / "munge.socket").exists)
        self._daemon("slurmctld", "-D", "-c")
        self._daemon("slurmd", "-D", "-c")
        _wait_for(lambda: set(self("sinfo", "--noheader", "--format=%T").split()) == {"idle"})

    def __call__(self, *command: str) -> str:
        """Output of one of Slurm's commands; empty if it fails."""
        done = subprocess.run(
            command, env=os.environ | self.environment, capture_output=True, text=True, check=False
        )
        return done.stdout.strip()

    def jobs(self) -> list[dict[str, str]]:
        """All jobs so far, by number, each a mapping of what `scontrol` says."""
        text = self("scontrol", "--oneliner", "show", "job")
        found = [
            dict(word.split("=", 1) for word in line.split() if "=" in word)
            for line in text.splitlines()
            if line.startswith("JobId=")
        ]
        return sorted(found, key=lambda job: int(job["JobId"]))

    def processes(self) -> list[psutil.Process]:
        """All processes of jobs, also of jobs that Slurm has given up."""
        found = []
        for process in psutil.process_iter():
            with suppress(psutil.Error):
                if process.environ().get("SLURM_CLUSTER_NAME") == self.cluster:
                    found.append(process)
        return found

    def stop(self) -> None:
        self("scancel", "--full", "--user=root")
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(timeout=20)
            except subprocess.TimeoutExpired:
                daemon.kill()
        for link in self.links.values():
            link.unlink(missing_ok=True)
        for process in self.processes():  # what a cancelled job left behind
            with suppress(psutil.NoSuchProcess):
                process.kill()

    def _daemon(self, *command: str) -> None:
        with (self.folder / f"{command[0]}.out").open("w") as output:
            self.daemons.append(
                subprocess.Popen(command, env=os.environ | self.environment, stdout=output, stderr=output)
            )


def _wait_for(condition, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "Slurm did not start"
        time.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    sockets = [socket.socket() for _ in range(count)]
    for each in sockets:
        each.bind(("127.0.0.1", 0))
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports
