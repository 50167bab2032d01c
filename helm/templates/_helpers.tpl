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

{{- /* Lists each setting once; values in .Values.settings take precedence. */}}
{{- define "opsbrain.settings" -}}
{{- $settings := dict "data" "/data" "auth" "keys" -}}
{{- with .Values.allowedHosts }}{{ $_ := set $settings "allowed_hosts" (join "," .) }}{{ end -}}
{{- with .Values.allowedOrigins }}{{ $_ := set $settings "allowed_origins" (join "," .) }}{{ end -}}
{{- mergeOverwrite $settings .Values.settings | toYaml -}}
{{- end -}}
