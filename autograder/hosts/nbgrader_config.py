"""A class of the course on gradient accumulation. `gradaccum classroom init` put this file here; it is yours to change.

All options: https://nbgrader.readthedocs.io/en/stable/configuration/config_options.html
"""

c = get_config()  # noqa: F821 - nbgrader defines it

# Two classes that share an exchange or a JupyterHub need different names.
c.CourseDirectory.course_id = "gradaccum"

# The gradebook is the file gradebook.db in this directory, unless you name another database.
# c.CourseDirectory.db_url = "postgresql://user@host/database"

# Between these two lines stands what students write themselves.
c.ClearSolutions.begin_solution_delimeter = "### BEGIN SOLUTION"
c.ClearSolutions.end_solution_delimeter = "### END SOLUTION"
c.ClearSolutions.code_stub = {"python": "raise NotImplementedError"}

# Notebooks of the course are marked by the course: read in whatever state they are, observed in a sandbox, judged outside of
# it. Without bubblewrap that is refused; "none" instead of "bwrap" is for a class in which you trust every file.
c.Autograde.exporter_class = "autograder.nbgrader_plugins.ReadSubmission"
c.Autograde.autograde_preprocessors = [
    "autograder.nbgrader_plugins.MarkSubmission",
    "nbgrader.preprocessors.IgnorePattern",
    "nbgrader.preprocessors.LimitOutput",
    "nbgrader.preprocessors.SaveAutoGrades",
    "nbgrader.preprocessors.AssignLatePenalties",
    "nbgrader.preprocessors.CheckCellMetadata",
]
c.MarkSubmission.sandbox = "bwrap"

# Chooses the hidden problems of this class, for every student and unit others. Keep it to yourself.
c.MarkSubmission.secret = ""

# What late work costs once a unit has a due date (gradaccum classroom due), in percent of the unit's points: for each day that
# has begun; at most; once, if the LMS says only that it was late, as Canvas does. Last, minutes that cost nothing.
c.AssignLatePenalties.plugin_class = "autograder.nbgrader_plugins.DeductPerDay"
c.DeductPerDay.per_day = 0
c.DeductPerDay.at_most = 100
c.DeductPerDay.marked_late = 0
c.DeductPerDay.grace_minutes = 0

# Notebooks of your own in this class are run by nbgrader as usual, in the same sandbox: seconds for one of their cells.
c.MarkSubmission.timeout = 60

# Whether a student's feedback page has two model answers below each exercise that earned all its points.
c.GenerateFeedback.preprocessors = [
    "nbgrader.preprocessors.GetGrades",
    "nbconvert.preprocessors.CSSHTMLHeaderPreprocessor",
    "autograder.nbgrader_plugins.ShowModelAnswers",
]
c.ShowModelAnswers.enabled = False

# In feedback explorables are pictures: a page opened from disk has no kernel to move them.
c.WidgetsDataTypeFilter.display_data_priority = [
    "text/html",
    "image/svg+xml",
    "image/png",
    "text/latex",
    "text/markdown",
    "text/plain",
]
