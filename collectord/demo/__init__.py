"""
A sample session, played as an agent would write it while the real daemon collects it.

``sample`` reads the packaged session, ``player`` writes it, ``background`` runs the
daemon, ``performance`` puts them together and says how it went. Everything happens in
one folder that is taken away again.
"""

from collectord.demo.performance import Event, Half, Performance, Recorded, Report, Stopped

__all__ = ["Event", "Half", "Performance", "Recorded", "Report", "Stopped"]
