"""`python -m regard` is `regard`."""

from regard.cli.main import main

if __name__ == "__main__":
    main()
