// Detectors look for alarms in a series, sample by sample.
#ifndef FIELDLAB_DETECTOR_H
#define FIELDLAB_DETECTOR_H

#include <string>
#include <vector>

class Detector {
public:
    virtual ~Detector() {}
    virtual std::string name() const = 0;
    virtual void reset() {}
    virtual bool alarm(double sample) = 0;
};

class LevelDetector : public Detector {
public:
    explicit LevelDetector(double level) : level_(level) {}
    std::string name() const { return "level"; }
    bool alarm(double sample) { return sample > level_; }

private:
    double level_;
};

class JumpDetector : public Detector {
public:
    explicit JumpDetector(double height) : height_(height), last_(0.0), started_(false) {}
    std::string name() const { return "jump"; }
    void reset() { started_ = false; }
    bool alarm(double sample);

private:
    double height_;
    double last_;
    bool started_;
};

// Alarms once a sample has stuck at the same value `length` times.
class StuckDetector : public Detector {
public:
    explicit StuckDetector(int length) : length_(length), run_(0), last_(0.0) {}
    std::string name() const { return "stuck"; }
    void reset() { run_ = 0; }
    bool alarm(double sample);

private:
    int length_;
    int run_;
    double last_;
};

// The detectors of a comma-separated list such as "level:2.5,jump:1.5"; the caller deletes them.
std::vector<Detector*> make_detectors(const std::string& list);

int count_alarms(Detector& detector, const std::vector<double>& samples);

#endif
