{{- define "opsbrain.selector" -}}
app.kubernetes.io/name: opsbrain
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "opsbrain.labels" -}}
{{ include "opsbrain.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end -}}
