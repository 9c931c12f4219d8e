"""What a run on a GPU would wait for, counted on a device that is played on the CPU."""
