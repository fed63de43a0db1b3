#!/usr/bin/env bash
# A job under SLURM: what it is given runs as `tessera` on a node with a GPU.
#
#     sbatch scripts/slurm.sh course 003 --device gpu -o course.jsonl
#     sbatch --gpus=0 scripts/slurm.sh bench matmul --size 2048 --device cpu
#     sbatch --array=0-4 scripts/slurm.sh course 00%a --device gpu    # %a: the job's number in the array
#
# Options of sbatch go before the others below; a cluster may want a partition or an account.
#
#SBATCH --job-name=tessera
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --cpus-per-task=8
#SBATCH --gpus=1
#SBATCH --time=00:30:00
#SBATCH --output=tessera-%j.out
set -euo pipefail

# SLURM runs a copy of this file: what is beside it is where the job was submitted.
cd "${SLURM_SUBMIT_DIR:-.}"
tessera=${TESSERA:-$(command -v tessera || echo build/tessera)}
[ -x "$tessera" ] || {
    echo "slurm.sh: no tessera in PATH nor in build/: set TESSERA" >&2
    exit 1
}

# Built programs are of this node's driver, and shared home folders are slow: they stay with the job.
TESSERA_CACHE_DIR=$(mktemp -d "${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/tessera-${SLURM_JOB_ID:-0}.XXXXXX")
export TESSERA_CACHE_DIR
trap 'rm -rf "$TESSERA_CACHE_DIR"' EXIT

# No more threads than cores that the job has.
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-$(nproc)}

# From 22.05 on srun does not take --cpus-per-task over from sbatch by itself.
launch=()
[ -z "${SLURM_JOB_ID:-}" ] || launch=(srun --ntasks=1 --cpus-per-task="$OMP_NUM_THREADS")

"${launch[@]}" "$tessera" "${@//%a/${SLURM_ARRAY_TASK_ID:-}}"
