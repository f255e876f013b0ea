#include "server/kubernetes/client/objects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/base/strings.h"
#include "common/model/labels.h"
#include "server/kubernetes/watch/pod_fixture.h"

namespace taut::server {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

// A pod of an API server 1.35, without the fields that are not parsed.
constexpr std::string_view kPod = R"({
"metadata":{"name":"web-0","namespace":"shop","uid":"u1","resourceVersion":"17","generation":3,
 "labels":{"app":"web","team":"blue"},
 "ownerReferences":[{"kind":"Other","name":"x"},{"kind":"StatefulSet","name":"web","controller":true}],
 "managedFields":[{"manager":"kubectl","operation":"Update"},{"manager":"tautline","operation":"Update","subresource":"resize"}]},
"spec":{"nodeName":"node-1",
 "initContainers":[{"name":"prepare"},{"name":"proxy","restartPolicy":"Always","resources":{"limits":{"cpu":"100m"}}}],
 "ephemeralContainers":[{"name":"debugger-x2x4z"}],
 "containers":[{"name":"app","resources":{"requests":{"cpu":"250m","memory":"64Mi"},"limits":{"cpu":1,"memory":"128Mi"}},
  "resizePolicy":[{"resourceName":"cpu","restartPolicy":"NotRequired"},{"resourceName":"memory","restartPolicy":"RestartContainer"}]}]},
"status":{"phase":"Running","qosClass":"Burstable","observedGeneration":2,"startTime":"2026-02-03T04:05:06Z",
 "conditions":[{"type":"PodResizePending","status":"True","reason":"Deferred","message":"no room"},{"type":"Ready","status":"True"}],
 "containerStatuses":[{"name":"app","containerID":"containerd://4f5a","restartCount":4,"state":{"running":{"startedAt":"2026-02-03T05:05:06Z"}},
  "lastState":{"terminated":{"reason":"OOMKilled","exitCode":0,"finishedAt":"2026-02-03T05:05:05Z"}},
  "resources":{"requests":{"cpu":"250m","memory":"64Mi"},"limits":{"cpu":"1","memory":"96Mi"}}}]}})";

Pod ParsedPod() {
  ObjectParser parser;
  WatchMeta meta;
  Pod pod;
  EXPECT_TRUE(parser.ParseWatch<Pod>(StrCat(R"({"type":"MODIFIED","object":)", kPod, "}"), meta, pod).ok());
  EXPECT_EQ(meta.event, WatchEvent::kPut);
  EXPECT_EQ(meta.resource_version, "17");
  return pod;
}

TEST(Objects, APodAsTheServerSendsIt) {
  const Pod pod = ParsedPod();
  EXPECT_EQ(pod.namespace_name, "shop");
  EXPECT_EQ(pod.node, "node-1");
  EXPECT_EQ(pod.started_s, 1'770'091'506);
  EXPECT_EQ(pod.owner_kind, "StatefulSet");
  EXPECT_EQ(pod.owner_name, "web");
  EXPECT_THAT(pod.labels, ElementsAre(Pair("app", "web"), Pair("team", "blue")));
  EXPECT_TRUE(pod.resized);
  EXPECT_TRUE(pod.resized_by_us);
  EXPECT_FALSE(pod.is_static);
  EXPECT_EQ(pod.resize, ResizeState::kDeferred);
  EXPECT_EQ(pod.resize_message, "no room");
  EXPECT_EQ(pod.generation, 3);
  EXPECT_EQ(pod.observed_generation, 2);
  ASSERT_EQ(pod.containers.size(), 2U) << "of the init containers only the one that goes on";
  EXPECT_THAT(pod.left_out, ElementsAre("prepare", "debugger-x2x4z"));
  EXPECT_EQ(pod.containers[0].name, "proxy");
  EXPECT_EQ(pod.containers[0].id, "");
  EXPECT_EQ(pod.containers[1].id, "4f5a");
  EXPECT_TRUE(pod.containers[0].is_sidecar);
  EXPECT_EQ(pod.containers[0].limits, (Amounts{0.1, std::nullopt}));
  const ContainerState& app = pod.containers[1];
  EXPECT_EQ(app.requests, (Amounts{0.25, 64 * kMebibyte}));
  EXPECT_EQ(app.limits, (Amounts{1, 128 * kMebibyte}));
  EXPECT_EQ(app.actual_limits, (Amounts{1, 96 * kMebibyte}));
  EXPECT_TRUE(app.restarts_for_memory);
  EXPECT_FALSE(app.restarts_for_cpu);
  EXPECT_TRUE(app.running);
  EXPECT_EQ(app.started_s, 1'770'095'106);
  EXPECT_EQ(app.restarts, 4);
  EXPECT_EQ(app.last_reason, "OOMKilled");
  EXPECT_EQ(app.ended_s, 1'770'095'105);
  EXPECT_FALSE(app.crash_loops);
}

TEST(Objects, ResourcesOfThePodAreThoseOfItsOnlyContainer) {
  const auto parsed = [](std::string_view containers, std::string_view status) {
    ObjectParser parser;
    WatchMeta meta;
    Pod pod;
    EXPECT_TRUE(
        parser
            .ParseWatch<Pod>(
                StrCat(R"({"type":"MODIFIED","object":{"metadata":{"name":"a"},"spec":{"resources":{)"
                       R"("requests":{"memory":"64Mi"},"limits":{"cpu":"2","memory":"128Mi"}},"containers":)",
                       containers, R"(},"status":)", status, "}}"),
                meta, pod)
            .ok());
    return pod;
  };
  const Pod pod =
      parsed(R"([{"name":"app","resources":{"requests":{"cpu":"1"}}}])",
             R"({"resources":{"requests":{"memory":"64Mi"},"limits":{"cpu":"2","memory":"96Mi"}}})");
  const ContainerState& app = pod.containers[0];
  EXPECT_EQ(app.limits, (Amounts{std::nullopt, 128 * kMebibyte}));
  EXPECT_EQ(app.requests, (Amounts{1, 64 * kMebibyte}));
  EXPECT_EQ(app.actual_limits.memory, 96 * kMebibyte);
  EXPECT_TRUE(app.memory_of_pod);
  EXPECT_FALSE(app.cpu_of_pod) << "it has a request of its own";
  EXPECT_EQ(pod.pod_limits, (Amounts{2, 128 * kMebibyte}));
  const Pod resized = parsed(
      R"([{"name":"app"}])",
      R"({"allocatedResources":{"memory":"64Mi"},"resources":{"requests":{"memory":"16Mi"},"limits":{"memory":"128Mi"}}})");
  EXPECT_EQ(resized.containers[0].actual_requests.memory, 64 * kMebibyte) << "what is allocated";
  const Pod old = parsed(R"([{"name":"app"}])", "{}");
  EXPECT_EQ(old.containers[0].actual_limits, (Amounts{2, 128 * kMebibyte})) << "the kubelet does not say";
  const Pod two = parsed(R"([{"name":"app"},{"name":"log"}])", "{}");
  EXPECT_EQ(two.containers[0].limits, Amounts());
  EXPECT_EQ(two.pod_limits, (Amounts{2, 128 * kMebibyte}));
}

TEST(Objects, AContainerThatWaitsAfterAKill) {
  ObjectParser parser;
  WatchMeta meta;
  Pod pod;
  ASSERT_TRUE(
      parser
          .ParseWatch<Pod>(
              R"({"type":"MODIFIED","object":{"metadata":{"name":"a"},"spec":{"containers":[{"name":"app"}]},)"
              R"("status":{"containerStatuses":[{"name":"app","restartCount":3,"state":{"waiting":)"
              R"({"reason":"CrashLoopBackOff"}},"lastState":{"terminated":{"reason":"OOMKilled"}}}]}}})",
              meta, pod)
          .ok());
  EXPECT_TRUE(pod.containers[0].crash_loops);
  EXPECT_FALSE(pod.containers[0].running);
}

TEST(Objects, APodThatTheVpaHasChangedHasNotItsOwnersLimits) {
  const auto resized = [](std::string_view updates) {
    ObjectParser parser;
    WatchMeta meta;
    Pod pod;
    EXPECT_TRUE(
        parser
            .ParseWatch<Pod>(StrCat(R"({"type":"ADDED","object":{"metadata":{"annotations":{"vpaUpdates":")",
                                    updates, R"("}}}})"),
                             meta, pod)
            .ok());
    EXPECT_FALSE(pod.resized_by_us);
    return pod.resized;
  };
  EXPECT_TRUE(resized("Pod resources updated by web: container 0: cpu request, memory request, cpu limit"));
  // The VPA's webhook writes this text if there is no recommendation.
  EXPECT_FALSE(resized("Pod resources updated by limit: container 0: "));
  EXPECT_FALSE(resized(""));
}

TEST(Objects, Lists) {
  ObjectParser parser;
  ListMeta meta;
  std::vector<Pod> pods;
  const auto keep = [&pods](Pod&& pod) { pods.push_back(std::move(pod)); };
  const std::string list =
      StrCat(R"({"kind":"PodList","metadata":{"resourceVersion":"9","continue":"abc"},"items":[)", kPod, ",",
             kPod, "]}");
  ASSERT_TRUE(parser.ParseList<Pod>(list, meta, keep).ok());
  EXPECT_EQ(pods.size(), 2U);
  EXPECT_EQ(meta.resource_version, "9");
  EXPECT_EQ(meta.next, "abc");
  // In an empty list of metadata, `items` is null.
  std::vector<OwnedObject> owned;
  ASSERT_TRUE(
      parser
          .ParseList<OwnedObject>(
              R"({"kind":"PartialObjectMetadataList","metadata":{"resourceVersion":"1"},"items":null})", meta,
              [&owned](OwnedObject&& object) { owned.push_back(std::move(object)); })
          .ok());
  EXPECT_TRUE(owned.empty());
  EXPECT_EQ(meta.next, "");
}

TEST(Objects, NodesAndOwners) {
  ObjectParser parser;
  WatchMeta meta;
  Node node;
  ASSERT_TRUE(
      parser
          .ParseWatch<Node>(
              R"({"type":"ADDED","object":{"metadata":{"name":"n"},"status":{"allocatable":{"cpu":"3920m","memory":"16Gi"},
                      "conditions":[{"type":"Ready","status":"True"}]}}})",
              meta, node)
          .ok());
  EXPECT_TRUE(node.is_ready);
  EXPECT_EQ(node.allocatable, (Amounts{3.92, 16384 * kMebibyte}));
  OwnedObject object;
  ASSERT_TRUE(parser
                  .ParseWatch<OwnedObject>(
                      R"({"type":"DELETED","object":{"metadata":{"name":"web-1","namespace":"shop",
                      "ownerReferences":[{"kind":"Deployment","name":"web","controller":true}]}}})",
                      meta, object)
                  .ok());
  EXPECT_EQ(meta.event, WatchEvent::kDeleted);
  EXPECT_EQ(object.owner_name, "web");
}

TEST(Objects, RunsNameTheirProgram) {
  ObjectParser parser;
  WatchMeta meta;
  const auto job = [&](const std::string& metadata) {
    OwnedObject out;
    EXPECT_TRUE(parser
                    .ParseWatch<OwnedObject>(
                        StrCat(R"({"type":"ADDED","object":{"metadata":{"name":"a","namespace":"shop")",
                               metadata, "}}}"),
                        meta, out)
                    .ok());
    return out.program;
  };
  EXPECT_EQ(job(""), "");
  EXPECT_EQ(job(R"(,"generateName":"import-")"), "import");
  EXPECT_EQ(job(R"(,"generateName":"import-3f9c2ab-")"), "import");
  EXPECT_EQ(job(R"(,"generateName":"-")"), "");
  EXPECT_EQ(job(R"(,"generateName":"import-","annotations":{"tautline.dev/job":"nightly"})"), "nightly");
  EXPECT_EQ(job(R"(,"labels":{"tautline.dev/job":"one"},"annotations":{"tautline.dev/job":"two"})"), "one");
  EXPECT_EQ(job(R"(,"generateName":"import-","annotations":{"tautline.dev/job":"a/b"})"), "import");
  const auto pod = [&](const std::string& metadata) {
    Pod out;
    EXPECT_TRUE(
        parser
            .ParseWatch<Pod>(StrCat(R"({"type":"ADDED","object":{"metadata":{"name":"a","namespace":"shop")",
                                    metadata, R"(},"spec":{"containers":[{"name":"c","image":"app:1"}]}}})"),
                             meta, out)
            .ok());
    EXPECT_EQ(out.containers[0].image, "app:1");
    return out.program;
  };
  const std::string owned = R"(,"ownerReferences":[{"kind":"Job","name":"import-x2x4z","controller":true}])";
  EXPECT_EQ(pod(R"(,"generateName":"ci-")"), "ci");
  EXPECT_EQ(pod(StrCat(owned, R"(,"generateName":"import-x2x4z-")")), "") << "that is its Job's name";
  EXPECT_EQ(pod(StrCat(owned, R"(,"labels":{"tautline.dev/job":"load"})")), "load");
  EXPECT_EQ(pod(StrCat(owned, R"(,"labels":{"tekton.dev/task":"test"})")), "test");
  EXPECT_EQ(
      pod(R"(,"labels":{"tekton.dev/task":"test","tekton.dev/pipeline":"build","tekton.dev/pipelineTask":"unit"})"),
      "build-unit");
}

TEST(Objects, TheirStatusIsNoSetting) {
  ObjectParser parser;
  WatchMeta meta;
  OwnedObject out;
  ASSERT_TRUE(
      parser
          .ParseWatch<OwnedObject>(
              R"({"type":"ADDED","object":{"metadata":{"name":"web","namespace":"shop","annotations":{)"
              R"("tautline.dev/mode":"auto","tautline.dev/status":"app auto: cpu limit 1"}}}})",
              meta, out)
          .ok());
  EXPECT_EQ(out.status, "app auto: cpu limit 1");
  ASSERT_EQ(out.steering.size(), 1U);
  EXPECT_EQ(out.steering[0].first, "tautline.dev/mode");
}

TEST(Objects, AutoscalersSayWhichUtilizationTheyScaleBy) {
  ObjectParser parser;
  WatchMeta meta;
  Hpa hpa;
  ASSERT_TRUE(parser
                  .ParseWatch<Hpa>(
                      R"({"type":"ADDED","object":{"metadata":{"name":"web","namespace":"shop"},"spec":{
              "scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"web"},"metrics":[
              {"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}},
              {"type":"Resource","resource":{"name":"memory","target":{"type":"AverageValue","averageValue":"1Gi"}}},
              {"type":"ContainerResource","containerResource":{"name":"memory","container":"app",
               "target":{"type":"Utilization","averageUtilization":70}}},
              {"type":"External","external":{"metric":{"name":"queue"},"target":{"type":"Value","value":"30"}}}]}}})",
                      meta, hpa)
                  .ok());
  EXPECT_EQ(hpa.target_kind, "Deployment");
  EXPECT_THAT(hpa.metrics, ElementsAre(UtilizationMetric{Resource::kCpu, ""},
                                       UtilizationMetric{Resource::kMemory, "app"}));
}

TEST(ObjectParser, AScaledObjectIsPausedByItsAnnotations) {
  const auto read = [](const std::string& annotations, const std::string& target) {
    ObjectParser parser;
    WatchMeta meta;
    KedaScaledObject out;
    const std::string line =
        StrCat(R"({"type":"ADDED","object":{"metadata":{"name":"web","namespace":"shop","annotations":{)",
               annotations, R"(}},"spec":{"scaleTargetRef":{)", target, "}}}}");
    EXPECT_TRUE(parser.ParseWatch<KedaScaledObject>(line, meta, out).ok()) << line;
    return out;
  };
  const KedaScaledObject plain = read("", R"("name":"web")");
  EXPECT_EQ(plain, (KedaScaledObject{"shop", "web", "Deployment", "web", ""}));
  EXPECT_EQ(read("", R"("kind":"Rollout","name":"web")").target_kind, "Rollout");
  const auto paused = [&](const std::string& annotations) {
    return read(annotations, R"("name":"web")").paused_by;
  };
  EXPECT_EQ(paused(R"("autoscaling.keda.sh/paused":"true")"), "autoscaling.keda.sh/paused: true");
  EXPECT_EQ(paused(R"("autoscaling.keda.sh/paused":"false")"), "");
  EXPECT_EQ(paused(R"("autoscaling.keda.sh/paused":"nonsense")"), "autoscaling.keda.sh/paused: nonsense")
      << "KEDA pauses, too";
  EXPECT_EQ(paused(R"("autoscaling.keda.sh/paused":"false","autoscaling.keda.sh/paused-replicas":"0")"),
            "autoscaling.keda.sh/paused-replicas: 0");
}

TEST(Objects, WatchesSayWhenTheyEnd) {
  ObjectParser parser;
  WatchMeta meta;
  Pod pod;
  ASSERT_TRUE(
      parser
          .ParseWatch<Pod>(
              R"({"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}})",
              meta, pod)
          .ok());
  EXPECT_EQ(meta.event, WatchEvent::kError);
  EXPECT_EQ(meta.error_code, 410);
  ASSERT_TRUE(
      parser
          .ParseWatch<Pod>(R"({"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"99"}}})", meta, pod)
          .ok());
  EXPECT_EQ(meta.event, WatchEvent::kBookmark);
  EXPECT_EQ(meta.resource_version, "99");
}

TEST(Objects, SayWhatIsNone) {
  ObjectParser parser;
  WatchMeta meta;
  ListMeta list;
  Pod pod;
  for (const char* text :
       {"", "{", "[]", "7", "{}", R"({"type":"ADDED"})", R"({"type":"ADDED","object":{}})"}) {
    EXPECT_TRUE(absl::IsDataLoss(parser.ParseWatch<Pod>(text, meta, pod))) << text;
    EXPECT_TRUE(absl::IsDataLoss(parser.ParseList<Pod>(text, list, [](Pod&&) {}))) << text;
  }
  // A value of the wrong type counts as missing.
  ASSERT_TRUE(parser
                  .ParseWatch<Pod>(
                      R"({"type":"ADDED","object":{"metadata":{"name":7,"labels":[],"ownerReferences":{}},
                      "spec":{"containers":[{"resources":{"limits":{"cpu":"lots","memory":[]}}}]},"status":[]}})",
                      meta, pod)
                  .ok());
  EXPECT_EQ(pod.name, "");
  EXPECT_EQ(pod.containers.at(0).limits, Amounts());
}

TEST(Objects, TemplatesOfWorkloads) {
  const std::string containers =
      R"({"spec":{"containers":[{"name":"app","resources":{"limits":{"cpu":"2"}}}]}})";
  const auto deployment = ParsePodTemplate(StrCat(R"({"spec":{"template":)", containers, "}}"));
  ASSERT_TRUE(deployment.ok());
  EXPECT_EQ(deployment->at(0).limits.cpu, 2);
  const auto cron =
      ParsePodTemplate(StrCat(R"({"spec":{"jobTemplate":{"spec":{"template":)", containers, "}}}}"));
  ASSERT_TRUE(cron.ok());
  EXPECT_EQ(cron->at(0).name, "app");
  EXPECT_THAT(std::string(Message(ParsePodTemplate("{}").status())), HasSubstr("no pod template"));
  EXPECT_FALSE(ParsePodTemplate("").ok());
}

OwnedObject ReadOwned(const std::string& metadata) {
  ObjectParser parser;
  WatchMeta meta;
  OwnedObject out;
  EXPECT_TRUE(
      parser
          .ParseWatch<OwnedObject>(
              StrCat(R"({"type":"ADDED","object":{"metadata":{"name":"web",)", metadata, "}}}"), meta, out)
          .ok());
  return out;
}

// A label can opt out, but not change a setting. The safer of label and annotation applies.
TEST(Objects, ALabelOptsOutAndDoesNothingElse) {
  const OwnedObject off =
      ReadOwned(R"("labels":{"tautline.dev/mode":"off","app.tautline.dev/mode":"observe","app":"web"},
      "annotations":{"tautline.dev/mode":"auto","app.tautline.dev/mode":"off"})");
  EXPECT_THAT(off.steering,
              UnorderedElementsAre(Label("tautline.dev/mode", "off"), Label("app.tautline.dev/mode", "off")));
  EXPECT_TRUE(off.refused.empty());
  const OwnedObject other = ReadOwned(
      R"("labels":{"tautline.dev/mode":"auto","tautline.dev/class":"batch","tautline.dev/job":"import"})");
  EXPECT_TRUE(other.steering.empty());
  ASSERT_EQ(other.refused.size(), 2U) << "tautline.dev/job names a program";
  EXPECT_EQ(other.refused[0],
            "The label tautline.dev/mode=auto is not used: only tautline.dev/mode with off or observe may be "
            "a label; "
            "settings are annotations");
}

// If a mode on a pod were ignored silently, limits could be set against the will of the pod's author.
TEST(Objects, APodOptsOutByLabelsAndAnnotationsAndSaysNothingElse) {
  ObjectParser parser;
  WatchMeta meta;
  Pod pod;
  ASSERT_TRUE(parser
                  .ParseWatch(R"({"type":"ADDED","object":{"metadata":{"name":"web-0","namespace":"shop",
    "labels":{"tautline.dev/mode":"observe","tautline.dev/job":"import","app":"web"},
    "annotations":{"app.tautline.dev/mode":"off","tautline.dev/mode":"Off","tautline.dev/memory.upper":"1GiB",
                   "tautline.dev/owner-resources":"{}"}},"spec":{"containers":[{"name":"app"}]}}})",
                              meta, pod)
                  .ok());
  EXPECT_THAT(pod.opt_outs, UnorderedElementsAre(Label("tautline.dev/mode", "observe"),
                                                 Label("app.tautline.dev/mode", "off")));
  ASSERT_EQ(pod.refused.size(), 2U);
  EXPECT_EQ(
      pod.refused[0],
      "The annotation tautline.dev/mode=Off of its pods is not used: only tautline.dev/mode with off or "
      "observe counts there; settings are annotations of the workload");
  EXPECT_THAT(pod.refused[1], HasSubstr("tautline.dev/memory.upper=1GiB"));
}

// Without a bound, 120 workloads with 240 KB of annotations each would use 45 MB.
TEST(Objects, AnnotationsAreBounded) {
  const OwnedObject large = ReadOwned(StrCat(R"("annotations":{"tautline.dev/mode":"off","tautline.dev/x":")",
                                             std::string(240'000, 'x'), R"(","tautline.dev/split":")",
                                             std::string(240'000, 'x'), R"("})"));
  EXPECT_THAT(large.steering, ElementsAre(Label("tautline.dev/mode", "off")));
  EXPECT_EQ(large.split, "");
  ASSERT_EQ(large.refused.size(), 1U);
  EXPECT_THAT(large.refused[0], HasSubstr("beyond 16 KiB are not used"));
}

// Anyone who may create a pod may write arbitrary ownerReferences.
TEST(Objects, AnOwnerOfAnImpossibleNameIsNone) {
  const auto owner = [](const std::string& kind, const std::string& name) {
    const OwnedObject out =
        ReadOwned(StrCat(R"("namespace":"ten","ownerReferences":[{"controller":true,"kind":")", kind,
                         R"(","name":")", name, R"("}])"));
    return StrCat(out.owner_kind, " ", out.owner_name);
  };
  EXPECT_EQ(owner("ReplicaSet", "web-5d4f8c7b9d"), "ReplicaSet web-5d4f8c7b9d");
  EXPECT_EQ(owner("ReplicaSet", "../../act1/deployment/over"), " ");
  EXPECT_EQ(owner("ReplicaSet", ".."), " ");
  EXPECT_EQ(owner("../..", "web"), " ");
}

}  // namespace
}  // namespace taut::server
