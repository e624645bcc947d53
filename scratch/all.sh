export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
jobs() {
  for v in base COMBS=0 WAYS=4 WEIGHT=1 PERT=0,WEIGHT=1; do echo "u2319 0 120 $v"; done
  for i in E1k.0 nrw1379 pr2392 d657 rat575 pr1002 att532; do
    for s in 0 1; do
      for v in base COMBS=0 WAYS=4 DIVE=0 COMBS=0,WAYS=4,DIVE=0 WEIGHT=1 PERT=0,WEIGHT=1,COMBS=0,WAYS=4,DIVE=0; do
        echo "$i $s 120 $v"; done; done; done
}
jobs | timeout 400 xargs -P 15 -L 1 python3 scratch/one.py 2>&1 | tee $OUT/ablation.txt
