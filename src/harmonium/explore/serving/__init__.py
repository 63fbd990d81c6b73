"""Surroundings of the endpoints of a server: connections, middleware, metrics, and worker processes."""
