#!/bin/bash
#SBATCH --job-name=train
#SBATCH --ntasks=3
# sbatch slurm.sh: each task records on its own node, and leaves a summary in the job's directory.
job=$PWD/train-$SLURM_JOB_ID
mkdir -p "$job"
export job
srun bash -c 'tfdbg-tui run --headless --logdir "/tmp/dump-$SLURM_JOB_ID" \
    --summary "$job/$SLURM_PROCID.json" train.py > "$job/$SLURM_PROCID.txt" 2>&1'
tfdbg-tui diagnose --summaries "$job"
