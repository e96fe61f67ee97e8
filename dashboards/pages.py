"""All pages in the order of the picker; the first is shown where the address names none."""

import compare_page
import drift_page
import instances_page
import leaderboard_page
import metrics_page
import robustness_page
import subgroups_page
from page_context import Page

PAGES = (
    Page(name="Leaderboard", about=leaderboard_page.ABOUT, show=leaderboard_page.show),
    Page(name="Metrics", about=metrics_page.ABOUT, show=metrics_page.show),
    Page(name="Compare", about=compare_page.ABOUT, show=compare_page.show),
    Page(
        name="Instances",
        about=instances_page.ABOUT,
        show=instances_page.show,
        is_of_instances=True,
    ),
    Page(name="Robustness", about=robustness_page.ABOUT, show=robustness_page.show),
    Page(name="Subgroups", about=subgroups_page.ABOUT, show=subgroups_page.show),
    Page(name="Drift", about=drift_page.ABOUT, show=drift_page.show),
)
