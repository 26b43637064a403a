from engine.telemetry import make_telemetry


def test_a_device_without_a_driver_leaves_the_cpu_gauge():
    assert make_telemetry("00000000-0000-0000-0000-000000000000").read(0.0).name == "CPU"


def test_no_cuda_device_means_the_cpu_gauge():
    assert make_telemetry("").read(0.0).name == "CPU"
