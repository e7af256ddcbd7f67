"""The error over the kernel variance σ²: many splits, all cores, resumable."""

from gradraker.sweep.sweep_result import SweepResult
from gradraker.sweep.variance_sweep import sigma2_sweep
from gradraker.sweep.varied_setting import SettingsSweep, settings_sweep

__all__ = ["SettingsSweep", "SweepResult", "settings_sweep", "sigma2_sweep"]
