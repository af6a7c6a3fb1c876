"""What the readers of foreign session files share: a look at the head, plain values, pairing, a format."""
