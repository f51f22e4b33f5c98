#include "detector.h"

#include <cmath>
#include <sstream>
#include <stdlib.h>

#include "error.h"

bool JumpDetector::alarm(double sample)
{
    bool jumped = started_ && std::fabs(sample - last_) > height_;
    started_ = true;
    last_ = sample;
    return jumped;
}

bool StuckDetector::alarm(double sample)
{
    run_ = run_ > 0 && sample == last_ ? run_ + 1 : 1;
    last_ = sample;
    return run_ == length_;
}

static Detector* make_detector(const std::string& kind, double parameter)
{
    if (kind == "level")
        return new LevelDetector(parameter);
    if (kind == "jump")
        return new JumpDetector(parameter);
    if (kind == "stuck")
        return new StuckDetector(static_cast<int>(parameter));
    throw Error("unknown detector '" + kind + "'");
}

std::vector<Detector*> make_detectors(const std::string& list)
{
    std::vector<Detector*> detectors;
    std::istringstream in(list);
    std::string item;
    try {
        while (std::getline(in, item, ',')) {
            std::string::size_type colon = item.find(':');
            if (colon == std::string::npos)
                throw Error("detector '" + item + "': kind:parameter expected");
            detectors.push_back(make_detector(item.substr(0, colon), atof(item.substr(colon + 1).c_str())));
        }
    } catch (...) {
        for (size_t i = 0; i < detectors.size(); ++i)
            delete detectors[i];
        throw;
    }
    return detectors;
}

int count_alarms(Detector& detector, const std::vector<double>& samples)
{
    detector.reset();
    const int n = static_cast<int>(samples.size());
    int alarms = 0;
    for (int i = 0; i < n; ++i)
        if (detector.alarm(samples[i]))
            ++alarms;
    return alarms;
}
