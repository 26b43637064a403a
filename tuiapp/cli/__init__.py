"""The command line: what each command takes. What they do lies in `tuiapp.commands`."""
