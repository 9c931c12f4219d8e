"""Runs that are spread over several machines.

One process, the *parent*, decides what runs; on each machine an *agent* starts and ends processes.
The parent's folder is on a disk that all of them share. There it writes where it listens
(`meeting`); agents and ranks then talk to it over TCP, since a shared disk tells nobody that a
process has died, and may show a new file only after half a minute.
"""
