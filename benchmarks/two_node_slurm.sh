#!/usr/bin/env bash
# A real Slurm of two nodes, node1 and node2, on this machine: both slurmd listen on the loopback.
#
#   two_node_slurm.sh up FOLDER      starts it; everything that it writes is in FOLDER
#   two_node_slurm.sh down FOLDER    ends it, with all of its jobs
#
# Then `export SLURM_CONF=FOLDER/slurm.conf`. Needs root, and Debian's slurm-wlm and munge, whose own
# services are neither used nor touched.
set -euo pipefail

fail() {
  echo "$1" >&2
  exit 2
}

[ "$#" -eq 2 ] || fail "Give up or down, and a folder."
[ "$(id -u)" -eq 0 ] || fail "Start this as root: slurmd runs the jobs of others."
action=$1
mkdir -p "$2"
folder=$(cd "$2" && pwd)
nodes=(node1 node2)
port=${TWO_NODE_SLURM_PORT:-17020}

end() {
  local pid
  [ -f "$1" ] || return 0
  pid=$(cat "$1")
  kill "$pid" 2>/dev/null || true
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -9 "$pid" 2>/dev/null || true
  rm -f "$1"
}

down() {
  export SLURM_CONF=$folder/slurm.conf
  if [ -f "$folder/slurmctld.pid" ]; then
    timeout 10 scancel --full --user root 2>/dev/null || true
  fi
  for node in "${nodes[@]}"; do
    end "$folder/slurmd-$node.pid"
  done
  pkill -9 -f "slurmstepd: \[" 2>/dev/null || true
  end "$folder/slurmctld.pid"
  end "$folder/munged.pid"
}

configure() {
  local cpus memory
  cpus=$(nproc)
  memory=$(($(awk '/MemTotal/ { print $2 }' /proc/meminfo) / 1024 - 512))
  cat >"$folder/slurm.conf" <<CONF
ClusterName=loopback
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmctldPidFile=$folder/slurmctld.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdPidFile=$folder/slurmd-%n.pid
SlurmdLogFile=$folder/slurmd-%n.log
SlurmdSpoolDir=$folder/spool-%n
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
KillWait=10
InactiveLimit=0
MinJobAge=30
NodeName=node1 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + 1)) CPUs=$cpus RealMemory=$memory
NodeName=node2 NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$((port + 2)) CPUs=$cpus RealMemory=$memory
PartitionName=main Nodes=node1,node2 Default=YES MaxTime=60:00 State=UP
PartitionName=closed Nodes=node1,node2 MaxTime=60:00 State=DOWN
CONF
}

up() {
  local tool
  for tool in munged slurmctld slurmd sinfo; do
    command -v "$tool" >/dev/null || fail "There is no $tool; apt-get install slurm-wlm munge."
  done
  down
  chmod 755 "$folder"
  mkdir -p "$folder/state" "$folder/spool-node1" "$folder/spool-node2"
  head -c 128 /dev/urandom >"$folder/munge.key"
  chmod 600 "$folder/munge.key"
  munged --force --key-file="$folder/munge.key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munged.pid" --log-file="$folder/munged.log" \
    --seed-file="$folder/munged.seed"
  configure
  export SLURM_CONF=$folder/slurm.conf
  slurmctld -c -f "$SLURM_CONF"
  for node in "${nodes[@]}"; do
    slurmd -N "$node" -f "$SLURM_CONF"
  done
  for _ in $(seq 100); do
    [ "$(sinfo --noheader --partition main --states idle --format %D 2>/dev/null)" = 2 ] && break
    sleep 0.2
  done
  sinfo
}

case $action in
  up) up ;;
  down) down ;;
  *) fail "Give up or down, not $action." ;;
esac
