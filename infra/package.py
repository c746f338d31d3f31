"""From the source to what is deployed: the template, and the zip with compiled code.

Chalice makes both; the zip is then completed with `.pyc` files, which Lambda cannot write and
without which every cold start compiles all of it (contracts/emulation.md section 8).
"""

from __future__ import annotations

import compileall
import fcntl
import hashlib
import importlib
import io
import json
import py_compile
import shutil
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from chalice.config import Config
from chalice.deploy import appgraph, deployer, packager, swagger
from chalice.package import PackageOptions, ResourceBuilder, SAMTemplateGenerator
from chalice.utils import UI, OSUtils

from chalicelib import settings
from infra import template

ROOT = Path(__file__).resolve().parents[1]
DEPLOYMENTS = ROOT / ".chalice" / "deployments"
CHALICE_STAGE = "headrace"  # the one Chalice knows; our stages are the template's parameter
CODE = "./deployment.zip"  # where Chalice's template says that the code is
ZIP_TIME = (1980, 1, 1, 0, 0, 0)  # the same source makes the same zip


def configured() -> dict[str, str]:
    """Return the variables that `.chalice/config.json` gives every function.

    Raises: BadSetting if one of them makes no sense.
    """
    variables: dict[str, str] = _config().environment_variables
    settings.read(variables)
    return variables


def build_template() -> dict[str, Any]:
    """Return the whole template, its code at `CODE`, without making the zip.

    Raises: BadSetting if a setting makes no sense: what cannot start is not deployed.
    """
    chosen = settings.read(configured())
    config = _config()
    steps = [
        deployer.InjectDefaults(),
        deployer.DeploymentPackager(packager=_NoZip()),
        deployer.SwaggerBuilder(swagger_generator=swagger.CFNSwaggerGenerator()),
    ]
    builder = ResourceBuilder(
        appgraph.ApplicationGraphBuilder(),
        appgraph.DependencyBuilder(),
        deployer.BuildStage(steps=steps),
    )
    resources = builder.construct_resources(config, CHALICE_STAGE)
    made = SAMTemplateGenerator(config, _Principals()).generate(resources)
    # Chalice's own classes of dictionaries and strings become plain JSON.
    return template.completed(json.loads(json.dumps(made)), chosen)


def build_zip(folder: Path) -> Path:
    """Make the zip in a folder; return its path.

    It needs pip, and on its first run an index of packages, for the wheels that Lambda runs. What
    was made of the same source is made once, also by several processes at a time.
    """
    DEPLOYMENTS.mkdir(parents=True, exist_ok=True)
    made = DEPLOYMENTS / f"headrace-{_digest_of_source()}.zip"
    with (DEPLOYMENTS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not made.exists():
            part = made.with_suffix(".part")
            compile_zip(_chalice_zip(), part)
            for older in DEPLOYMENTS.glob("*.zip"):  # Chalice keeps one of every state
                older.unlink()
            part.rename(made)
        return Path(shutil.copy(made, folder / "deployment.zip"))


def _chalice_zip() -> Path:
    """Return Chalice's zip of the source as it is now, and of the packages it requires."""
    system = OSUtils()
    runner = packager.PipRunner(pip=packager.SubprocessPip(osutils=system), osutils=system)
    chalice_packager = packager.LambdaDeploymentPackager(
        osutils=system,
        dependency_builder=packager.DependencyBuilder(osutils=system, pip_runner=runner),
        ui=UI(out=io.StringIO(), err=io.StringIO()),
    )
    made = chalice_packager.create_deployment_package(str(ROOT), _config().lambda_python_version)
    chalice_packager.inject_latest_app(made, str(ROOT))
    return Path(made)


def _digest_of_source() -> str:
    """Return a hash of all that is in the zip, or decides about it."""
    digest = hashlib.sha256(sys.version.encode())
    sources = [ROOT / "app.py", ROOT / "requirements.txt", Path(__file__)]
    for path in (*sources, *sorted((ROOT / "chalicelib").rglob("*.py"))):
        digest.update(f"{path.relative_to(ROOT)}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()[:32]


def compile_zip(source: Path, target: Path) -> None:
    """Copy a zip of Python source without the laptop's, adding to each module its compiled form.

    The compiled files are never checked against their source: they are right by construction,
    and the times in a zip are not.
    """
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with zipfile.ZipFile(source) as archive:
            archive.extractall(folder)
        for left_out in (*folder.rglob("__pycache__"), folder / "chalicelib" / "local"):
            shutil.rmtree(left_out, ignore_errors=True)
        (folder / "chalicelib" / "cli.py").unlink(missing_ok=True)
        unchecked = py_compile.PycInvalidationMode.UNCHECKED_HASH
        compileall.compile_dir(
            folder,
            quiet=2,
            stripdir=str(folder),
            prependdir="/var/task",
            invalidation_mode=unchecked,
        )
        with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(path for path in folder.rglob("*") if path.is_file()):
                entry = zipfile.ZipInfo(str(path.relative_to(folder)), ZIP_TIME)
                entry.compress_type = zipfile.ZIP_DEFLATED
                entry.external_attr = 0o644 << 16
                archive.writestr(entry, path.read_bytes())


def _config() -> Config:
    """Return Chalice's configuration of this project."""
    return Config(
        chalice_stage=CHALICE_STAGE,
        user_provided_params={
            "chalice_app": lambda: importlib.import_module("app").app,
            "project_dir": str(ROOT),
        },
        config_from_disk=json.loads((ROOT / ".chalice" / "config.json").read_text()),
        default_params={"autogen_policy": False},
    )


class _NoZip(packager.LambdaDeploymentPackager):
    """Names the zip and makes none."""

    def __init__(self) -> None:
        """Need nothing."""

    def create_deployment_package(self, project_dir: str, python_version: str) -> str:
        return CODE


class _Principals(PackageOptions):
    """Stands for Chalice's client of the region, which we need not ask for names."""

    def __init__(self) -> None:
        """Need nothing."""

    def service_principal(self, service: str) -> str:
        return f"{service}.amazonaws.com"
