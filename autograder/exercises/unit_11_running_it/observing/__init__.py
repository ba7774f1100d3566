"""Killing runs and taking them up again, driving a meter, and asking for plans: how unit 11 is observed."""

from autograder.exercises.unit_11_running_it.observing.meter import observe_meter
from autograder.exercises.unit_11_running_it.observing.resuming import observe_resume
from autograder.observing.calls import observe_call

OBSERVERS = {"load_checkpoint": observe_resume, "RunMeter": observe_meter, "plan_run": observe_call}
