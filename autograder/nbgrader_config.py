"""A class of the course on gradient accumulation. `gradaccum classroom init` put this file here; it is yours to change.

All options: https://nbgrader.readthedocs.io/en/stable/configuration/config_options.html
"""

c = get_config()  # noqa: F821 - nbgrader defines it

# Two classes that share an exchange or a JupyterHub need different names.
c.CourseDirectory.course_id = "gradaccum"

# Between these two lines stands what students write themselves.
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}

# Seconds for one cell. A check gives up on a function after 10 seconds for each of the (at most 17) problems it runs it on;
# a cell that is still running after four minutes is interrupted, counts as failed, and the next cell is run.
c.Execute.timeout = 240
c.Execute.interrupt_on_timeout = True

# nbgrader's own steps, and one of ours in the middle: cells that students split or copied do not stop the class.
c.Autograde.sanitize_preprocessors = [
    "nbgrader.preprocessors.ClearOutput",
    "nbgrader.preprocessors.DeduplicateIds",
    "autograder.nbgrader_plugins.ForgetDuplicates",
    "nbgrader.preprocessors.OverwriteKernelspec",
    "nbgrader.preprocessors.OverwriteCells",
    "nbgrader.preprocessors.CheckCellMetadata",
]

# In feedback explorables are pictures: a page opened from disk has no kernel to move them.
c.WidgetsDataTypeFilter.display_data_priority = [
    "text/html",
    "image/svg+xml",
    "image/png",
    "text/latex",
    "text/markdown",
    "text/plain",
]
