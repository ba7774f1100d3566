"""How the exercises of unit 11 are observed: killing runs and resuming them, driving a meter, asking for plans."""

from __future__ import annotations

from autograder.exercises.unit_11_running_it.observing.meter import observe_meter
from autograder.exercises.unit_11_running_it.observing.plans import observe_plan
from autograder.exercises.unit_11_running_it.observing.resuming import observe_resume

OBSERVERS = {"load_checkpoint": observe_resume, "RunMeter": observe_meter, "plan_run": observe_plan}
