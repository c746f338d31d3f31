"""The compatibility kit of DMN: its cases read, run and compared."""
