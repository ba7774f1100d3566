"""The web site: units, guides and live explorables as pages that need no server. ``make site`` builds it."""
