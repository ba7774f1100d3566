#!/usr/bin/env bash
# Gradescope runs this once, when it builds the autograder's image (Ubuntu 24.04 or another with Python 3.11 or newer).
set -euo pipefail

root=${AUTOGRADER_ROOT:-/autograder}
course=$(mktemp -d)

apt-get update -qq
apt-get install -y -qq --no-install-recommends bubblewrap python3-venv
python3 -m venv "$root/venv"
tar -xzf "$root/source/course.tar.gz" -C "$course"
PIP_EXTRA_INDEX_URL=${PIP_EXTRA_INDEX_URL:-https://download.pytorch.org/whl/cpu} \
    "$root/venv/bin/pip" install --quiet --no-cache-dir -c "$course/constraints.txt" "$course"

rm -r "$course" "$root/source/course.tar.gz" # the solutions are in there, and submissions will run here
