"""``gradaccum classroom hub`` writes what a hub needs, and says what is in the way."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml
from traitlets.config import Config, PyFileConfigLoader
from typer.testing import CliRunner

from autograder.classroom.commands import app
from autograder.publishing.nbgrader_course import CONFIG, config_text

SHARED = "https://hub.example.org/services/ngshare"


@pytest.fixture
def course(tmp_path, monkeypatch) -> Path:
    """A class of a user other than root, in an environment with JupyterHub."""
    directory = tmp_path / "class"
    directory.mkdir(mode=0o700)
    (directory / CONFIG).write_text(config_text("0" * 64))
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "jupyterhub-singleuser").touch()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setattr(Path, "owner", lambda path: "teacher")
    return directory


def hub(course: Path, *options: str):
    return CliRunner().invoke(app, ["hub", str(course), *options])


def loaded(file: Path) -> Config:
    return PyFileConfigLoader(file.name, path=str(file.parent)).load_config()


def test_the_class_s_server_runs_in_its_folder_as_its_owner(course):
    assert hub(course).exit_code == 0
    (service,) = loaded(course / "hub/jupyterhub_config.py").JupyterHub.services.get_value([])
    assert (service["user"], service["cwd"]) == ("teacher", str(course))


def test_instructors_are_the_group_that_may_enter(course):
    hub(course, "--instructors", "ada, bob", "--port", "10300")
    config = loaded(course / "hub/jupyterhub_config.py").JupyterHub
    (role,) = config.load_roles.get_value([])
    assert config.load_groups.get_value({}) == {group: {"users": ["ada", "bob"]} for group in role["groups"]}
    assert role["scopes"] == ["access:services!service=gradaccum"]
    assert config.services.get_value([])[0]["url"] == "http://127.0.0.1:10300"


def test_what_the_hub_s_configuration_has_already_stays(course, tmp_path):
    hub(course)
    own = tmp_path / "own.py"
    own.write_text(
        "c = get_config()\nc.JupyterHub.services = [{'name': 'culler'}]\nc.JupyterHub.load_groups = {'staff': {}}\n"
        f"c.JupyterHub.load_roles = [{{'name': 'staff'}}]\nc.Spawner.args = ['--debug']\n"
        f"load_subconfig('{course}/hub/jupyterhub_config.py')\n"
    )
    config = loaded(own)
    assert [service["name"] for service in config.JupyterHub.services] == ["culler", "gradaccum"]
    assert [role["name"] for role in config.JupyterHub.load_roles] == ["staff", "formgrade-gradaccum"]
    assert config.JupyterHub.load_groups.keys() == {"staff", "formgrade-gradaccum"}
    assert config.Spawner.args[0] == "--debug"


def test_everybody_s_nbgrader_knows_the_class_and_the_folder_for_assignments_and_no_secret(course):
    hub(course, "--exchange", "/srv/other")
    config = loaded(course / "hub/nbgrader_config.py")
    assert config == {"CourseDirectory": {"course_id": "gradaccum"}, "Exchange": {"root": "/srv/other"}}


def test_with_ngshare_the_values_for_kubernetes_hold_the_configuration_of_nbgrader(course):
    assert hub(course, "--ngshare", SHARED).exit_code == 0
    assert {file.name for file in (course / "hub").iterdir()} == {"nbgrader_config.py", "values.yaml"}
    values = yaml.safe_load((course / "hub/values.yaml").read_text())
    text = (course / "hub/nbgrader_config.py").read_text()
    assert values["singleuser"]["extraFiles"]["nbgrader"]["stringData"] == text
    assert SHARED in text


@pytest.mark.skipif(find_spec("ngshare_exchange") is None, reason="needs ngshare_exchange: pip install ngshare_exchange")
def test_with_ngshare_nbgrader_uses_its_exchange(course, monkeypatch):
    monkeypatch.setenv("USER", "ada")  # ngshare_exchange asks for it when it is imported
    hub(course, "--ngshare", SHARED)
    config = loaded(course / "hub/nbgrader_config.py")
    assert config.ExchangeFactory.submit.__module__ == "ngshare_exchange.submit"
    assert config.ExchangeFactory.exchange().ngshare_url == SHARED


def test_writing_the_same_again_changes_nothing(course):
    assert hub(course).exit_code == hub(course).exit_code == 0


def test_a_file_that_differs_is_not_overwritten(course):
    hub(course)
    again = hub(course, "--instructors", "ada")
    assert again.exit_code == 2
    assert "jupyterhub_config.py differs from what would be written; move it away and try again" in again.output
    assert '"ada"' not in (course / "hub/jupyterhub_config.py").read_text()


def test_a_class_that_others_can_read_is_written_with_a_warning(course):
    course.chmod(0o750)
    result = hub(course)
    assert (result.exit_code, "chmod go=" in result.output) == (0, True)


def test_a_class_of_root_is_refused(course, monkeypatch):
    monkeypatch.setattr(Path, "owner", lambda path: "root")
    assert "chown -R" in refused(course)


def test_an_environment_without_jupyterhub_is_refused(course, tmp_path):
    (tmp_path / "bin" / "jupyterhub-singleuser").unlink()
    assert "pip install jupyterhub" in refused(course)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--exchange", "here"), "give the whole path of a folder"),
        (("--ngshare", "hub.example.org"), "give the address of the service"),
    ],
)
def test_a_setting_that_makes_no_sense_is_refused(course, options, complaint):
    assert complaint in refused(course, *options)


def test_a_name_that_makes_no_address_is_refused(course):
    (course / CONFIG).write_text(config_text("0" * 64).replace('"gradaccum"', '"Deep Learning"'))
    assert "use only letters, digits, dots, hyphens and underscores" in refused(course)


def test_a_directory_that_is_no_class_is_refused(tmp_path):
    assert "make one with gradaccum classroom init" in refused(tmp_path)


def refused(course: Path, *options: str) -> str:
    """What the command says when it writes nothing."""
    result = hub(course, *options)
    assert result.exit_code == 2
    assert not (course / "hub").exists()
    return result.output
