{{/* "yes" if tautd changes pods. */}}
{{- define "tautline.acts" -}}
{{- if has .Values.way (list "act" "template" "webhook") }}yes{{ end -}}
{{- end }}

{{/* "yes" if a webhook checks the quota of new pods. */}}
{{- define "tautline.quotaWebhook" -}}
{{- if has (toString (dig "kubernetes" "admission" "quota" "off" .Values.config)) (list "warn" "refuse") }}yes{{ end -}}
{{- end }}

{{/* "yes" if the API server calls a webhook of tautd for new pods. */}}
{{- define "tautline.webhooks" -}}
{{- if or (eq .Values.way "webhook") (include "tautline.quotaWebhook" .) }}yes{{ end -}}
{{- end }}

{{/* tautd's configuration: the keys of `way`, overridden by .Values.config. */}}
{{- define "tautline.config" -}}
{{- $kubernetes := dict "kubeconfig" "in-cluster" "lease" (printf "%s/tautd" .Release.Namespace) -}}
{{- $config := dict "server" (dict "listen" (list "127.0.0.1:7070")) "store" (dict "path" "/var/lib/tautline/tautd.db") "ingest" (dict "kubernetes_jobs" "containers") "kubernetes" $kubernetes -}}
{{- if include "tautline.acts" . -}}
{{- $_ := set $config "actuator" (dict "kind" "kubernetes") -}}
{{- end -}}
{{- if include "tautline.webhooks" . -}}
{{- $_ := set $kubernetes "admission" (dict "listen" "0.0.0.0:9443" "name" (printf "tautd.%s.svc" .Release.Namespace) "configuration" .Release.Name) -}}
{{- end -}}
{{- if or .Values.serviceMonitor.enabled .Values.remoteWrite.enabled -}}
{{- $tokens := dict "operator_file" "/etc/tautline/tokens/operator" "reader_file" "/etc/tautline/tokens/reader" -}}
{{- if .Values.remoteWrite.enabled }}{{ $_ := set $tokens "writer_file" "/etc/tautline/tokens/writer" }}{{ end -}}
{{- $_ := set $config "server" (dict "listen" (list "0.0.0.0:7070") "tokens" $tokens) -}}
{{- end -}}
{{- if eq .Values.way "vpa" -}}
{{- $_ := set $kubernetes "vpa" true -}}
{{- end -}}
{{- range $name := list "quota" "budgets" "prices" -}}
{{- $from := index $.Values.filesFrom $name -}}
{{- if and (index $.Values $name) $from -}}
{{- fail (printf "%s and filesFrom.%s: the file is given twice" $name $name) -}}
{{- end -}}
{{- if and $from.configMap $from.secret }}{{ fail (printf "filesFrom.%s: expected configMap or secret, not both" $name) }}{{ end -}}
{{- if $from -}}
{{- $_ := set $config $name (dict "file" (printf "/etc/tautline/%s/%s" $name (default (printf "%s.yaml" $name) $from.key))) -}}
{{- else if index $.Values $name -}}
{{- $_ := set $config $name (dict "file" (printf "/etc/tautline/%s.yaml" $name)) -}}
{{- end -}}
{{- end -}}
{{- with .Values.prometheus -}}
{{- $_ := set $config "backfill" (dict "prometheus" .) -}}
{{- end -}}
{{- if .Values.externalScaler.enabled -}}
{{- $tls := dict "certificate" "/etc/tautline/scaler-tls/tls.crt" "key" "/etc/tautline/scaler-tls/tls.key" "client_ca" "/etc/tautline/scaler-tls/ca.crt" -}}
{{- $_ := set $config "external_scaler" (dict "listen" (list "0.0.0.0:7072") "tls" $tls) -}}
{{- end -}}
{{- if .Values.agent.enabled -}}
{{- $agents := dict "listen" (list "0.0.0.0:7071") "tokens_file" "/etc/tautline/agents/token" -}}
{{- if .Values.agent.tlsSecret -}}
{{- $_ := set $agents "tls" (dict "certificate" "/etc/tautline/agents-tls/tls.crt" "key" "/etc/tautline/agents-tls/tls.key") -}}
{{- end -}}
{{- $_ := set $config "agents" $agents -}}
{{- $_ := set $kubernetes "scrape_interval" "0s" -}}
{{- if .Values.agent.act -}}
{{- if ne .Values.way "observe" }}{{ fail "agent.act requires way: observe, since agents would change what tautd sets through the API server" }}{{ end -}}
{{- $_ := set $config "actuator" (dict "kind" "agents") -}}
{{- end -}}
{{- end -}}
{{- toYaml (mergeOverwrite $config (deepCopy .Values.config)) -}}
{{- end }}

{{/* The source of usage that tautd reads: "kubelets", "metrics_api", or "" (agents or Prometheus send usage). */}}
{{- define "tautline.usage" -}}
{{- $interval := toString (dig "kubernetes" "scrape_interval" (ternary "0s" "15s" .Values.agent.enabled) .Values.config) -}}
{{- if not (regexMatch "^0[a-z]*$" $interval) -}}
{{- if eq (dig "kubernetes" "usage" "cadvisor" .Values.config) "metrics_api" }}metrics_api{{ else }}kubelets{{ end -}}
{{- end -}}
{{- end }}

{{- define "tautline.labels" -}}
app.kubernetes.io/name: tautd
app.kubernetes.io/part-of: tautline
{{- end }}

{{/* Volume mounts with the files that tautd reads, for its container and for the init container that checks the configuration. */}}
{{- define "tautline.files" -}}
- {name: config, mountPath: /etc/tautline/tautd.yaml, subPath: tautd.yaml}
{{- range $name := list "quota" "budgets" "prices" }}
{{- if index $.Values.filesFrom $name }}
- {name: {{ $name }}, mountPath: /etc/tautline/{{ $name }}}
{{- else if index $.Values $name }}
- {name: config, mountPath: /etc/tautline/{{ $name }}.yaml, subPath: {{ $name }}.yaml}
{{- end }}
{{- end }}
- {name: tokens, mountPath: /etc/tautline/tokens}
{{- if .Values.agent.enabled }}
- {name: agents, mountPath: /etc/tautline/agents}
{{- if .Values.agent.tlsSecret }}
- {name: agents-tls, mountPath: /etc/tautline/agents-tls}
{{- end }}
{{- end }}
{{- if .Values.externalScaler.enabled }}
- {name: scaler-tls, mountPath: /etc/tautline/scaler-tls}
{{- end }}
{{- end }}

{{/* Configuration of the agents. */}}
{{- define "tautline.agentConfig" -}}
state: /var/lib/tautlet
cgroup_root: /host/sys/fs/cgroup
daemon:
  address: "tautd-agents.{{ .Release.Namespace }}.svc:7071"
  token_file: /etc/tautline/agents/token
  {{- if .Values.agent.tlsSecret }}
  tls: true
  ca_file: /etc/tautline/agents-tls/ca.crt
  {{- end }}
tasks:
{{- $manage := ternary ", manage: true" "" .Values.agent.act }}
- {name: monitors of CRI-O, systemd: "crio-conmon-*.scope", job: node/crio-conmon}
- {name: containers, systemd: "cri-containerd-*.scope|crio-*.scope", job: "kubepods/{unit}", task: "{unit}", pods: true{{ $manage }}}
- {name: burstable and best-effort containers, cgroup: "/kubepods/*/pod*/*", job: "kubepods/{base}", task: "{base}", pods: true{{ $manage }}}
- {name: guaranteed containers, cgroup: "/kubepods/pod*/*", job: "kubepods/{base}", task: "{base}", pods: true{{ $manage }}}
{{- with .Values.agent.tasks }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "tautline.agentLabels" -}}
app.kubernetes.io/name: tautlet
app.kubernetes.io/part-of: tautline
{{- end }}

{{/* Binding of the ClusterRole of a way to tautd's service account. */}}
{{- define "tautline.binding" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .root.Release.Name }}-{{ .way }}
  labels: {{- include "tautline.labels" .root | nindent 4 }}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {{ .root.Release.Name }}-{{ .way }}}
subjects: [{kind: ServiceAccount, name: tautd, namespace: {{ .root.Release.Namespace }}}]
{{- end }}
