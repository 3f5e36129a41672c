{{/* Name of all objects. */}}
{{- define "pypi-proxy.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}
{{- else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{/* Labels that select the instances. */}}
{{- define "pypi-proxy.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: proxy
{{- end }}

{{- define "pypi-proxy.metadata" -}}
name: {{ include "pypi-proxy.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "pypi-proxy.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{/* Kind of the object that has the instances. */}}
{{- define "pypi-proxy.kind" -}}
{{- if .Values.cache.persistent }}StatefulSet{{ else }}Deployment{{ end }}
{{- end }}

{{- define "pypi-proxy.image" -}}
{{- with .Values.image }}
{{- if .digest }}{{ .repository }}@{{ .digest }}{{ else }}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{ end }}
{{- end }}
{{- end }}

{{/* The configuration file. */}}
{{- define "pypi-proxy.config" -}}
{{- toToml (merge (deepCopy .Values.config) (dict "listen" (printf "0.0.0.0:%d" (int .Values.port)))) }}
{{- end }}
