#!/usr/bin/env bash
# Gradescope runs this once, when it builds the autograder's image.
set -euo pipefail

root=${AUTOGRADER_ROOT:-/autograder}
work=$(mktemp -d)

apt-get update -qq
apt-get install -y -qq --no-install-recommends bubblewrap python3-venv

# uv brings a Python that is new enough if the image has none.
python3 -m venv "$work/uv"
"$work/uv/bin/pip" install --quiet uv
export UV_PYTHON_INSTALL_DIR=$root/python
"$work/uv/bin/uv" venv --quiet --seed --python 3.12 "$root/venv"

mkdir "$work/course"
tar -xzf "$root/source/course.tar.gz" -C "$work/course"
PIP_EXTRA_INDEX_URL=${PIP_EXTRA_INDEX_URL:-https://download.pytorch.org/whl/cpu} \
    "$root/venv/bin/pip" install --quiet --no-cache-dir -c "$work/course/constraints.txt" "$work/course"

# The solutions are in there, and submissions will run here.
rm -r "$work" "$root/source/course.tar.gz" "$root"/venv/lib/python*/site-packages/autograder/publishing/solutions
