"""Training on a cluster: the driver, the tasks of workers, and the client."""
