"""Facts about published networks: sizes and switches, over the few networks in models/."""
