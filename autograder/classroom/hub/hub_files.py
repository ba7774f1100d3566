"""``gradaccum classroom hub``: the configuration that JupyterHub and nbgrader need for a class."""

from __future__ import annotations

import json
import re
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from autograder.classroom.course import existing_class
from autograder.support.atomic_files import write_atomically

FOLDER = "hub"
EXCHANGE = Path("/srv/nbgrader/exchange")
PORT = 10200

HUB_CONFIG, NBGRADER_CONFIG, HELM_VALUES = "jupyterhub_config.py", "nbgrader_config.py", "values.yaml"
PLACES = {
    HUB_CONFIG: "for the hub; its configuration has to load this last",
    NBGRADER_CONFIG: "to be copied to /etc/jupyter, for all users",
    HELM_VALUES: "for Zero to JupyterHub; words in capital letters are yours to replace",
}
"""What becomes of each file."""


@dataclass(frozen=True)
class HubSettings:
    """What differs from hub to hub.

    Attributes:
        instructors: their names on the hub; if there are none, the owner of the class is the instructor.
        exchange: the folder through which assignments travel.
        ngshare: the address of the service that takes the folder's place, if there is one.
        port: where the class's own server listens.
    """

    instructors: tuple[str, ...] = ()
    exchange: Path = EXCHANGE
    ngshare: str = ""
    port: int = PORT


def write_hub_files(directory: Path, settings: HubSettings) -> list[Path]:
    """Write what a hub needs into ``hub/`` of a class, and return the paths of the files.

    Raises:
        ValueError: there is no class, a hub cannot use it, or a file that is there already differs.
        OSError: a file cannot be written.
    """
    course = existing_class(directory).course_id
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", course):
        raise ValueError(
            f"{directory}: the course_id {course!r} becomes part of an address; in c.CourseDirectory.course_id "
            "use only letters, digits, dots, hyphens and underscores, beginning with a letter or digit"
        )
    texts = _texts_for_ngshare(course, settings) if settings.ngshare else _texts_for_one_machine(directory, course, settings)
    files = {directory / FOLDER / name: text for name, text in texts.items()}
    for path, text in files.items():
        if path.exists() and path.read_text(encoding="utf-8") != text:
            raise ValueError(f"{path} differs from what would be written; move it away and try again")
    for path, text in files.items():
        write_atomically(path, text)
    return list(files)


def open_to_others(directory: Path) -> bool:
    """Whether other users of this machine can look into a class, which holds solutions and the secret."""
    return bool(directory.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def _texts_for_one_machine(directory: Path, course: str, settings: HubSettings) -> dict[str, str]:
    """The files for a hub on the machine that holds the class, by name."""
    owner = directory.owner()
    if owner == "root":
        raise ValueError(
            f"{directory} belongs to root, and so would everything that runs in it; "
            f"give it to the user who teaches: chown -R USER {directory}"
        )
    if not settings.exchange.is_absolute():
        raise ValueError(f"--exchange {settings.exchange}: give the whole path of a folder, such as {EXCHANGE}")
    programs = Path(sys.executable).parent
    if not (singleuser := programs / "jupyterhub-singleuser").exists():
        raise ValueError(
            f"{singleuser} is missing; install JupyterHub where the course is, in the hub's version: pip install jupyterhub"
        )
    hub_config = _rendered(
        HUB_CONFIG,
        course=course,
        instructors=list(settings.instructors) or [owner],
        address=f"http://127.0.0.1:{settings.port}",
        singleuser=str(singleuser),
        programs=str(programs),
        owner=owner,
        directory=str(directory.resolve()),
    )
    nbgrader_config = _rendered(NBGRADER_CONFIG, course=course, ngshare="", exchange=str(settings.exchange))
    return {HUB_CONFIG: hub_config, NBGRADER_CONFIG: nbgrader_config}


def _texts_for_ngshare(course: str, settings: HubSettings) -> dict[str, str]:
    """The files for a hub that has ngshare, and keeps the class elsewhere, by name."""
    address = urlsplit(settings.ngshare)
    if address.scheme not in ("http", "https") or not address.netloc:
        raise ValueError(
            f"--ngshare {settings.ngshare}: give the address of the service, such as https://hub.example.org/services/ngshare"
        )
    nbgrader_config = _rendered(NBGRADER_CONFIG, course=course, ngshare=settings.ngshare.rstrip("/"))
    return {
        NBGRADER_CONFIG: nbgrader_config,
        HELM_VALUES: _rendered(HELM_VALUES, course=course, nbgrader_config=nbgrader_config),
    }


def _rendered(name: str, **values: object) -> str:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    templates = Environment(
        loader=PackageLoader("autograder.classroom.hub"),
        trim_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )
    templates.filters["literal"] = json.dumps  # which is Python, too
    return templates.get_template(f"{name}.jinja").render(values)
