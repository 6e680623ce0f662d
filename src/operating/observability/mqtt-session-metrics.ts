import type { MqttSessionStats } from '../../ingest/mqtt-sessions/mqtt-sessions.ts'
import { type MetricName, metricHelp } from './metric-help.ts'
import type { Metric } from './metrics.ts'

/** What is kept for MQTT clients, and what found no room. */
export function mqttSessionMetrics(sessions: { stats(): MqttSessionStats }): readonly Metric[] {
  const figures: readonly [Metric['type'], MetricName, keyof MqttSessionStats][] = [
    ['gauge', 'mqtt_sessions', 'sessions'],
    ['gauge', 'mqtt_subscriptions', 'subscriptions'],
    ['gauge', 'mqtt_queued_messages', 'queued'],
    ['gauge', 'mqtt_queued_bytes', 'queuedBytes'],
    ['counter', 'mqtt_queue_dropped_total', 'queueDropped'],
    ['gauge', 'mqtt_retained_messages', 'retained'],
    ['gauge', 'mqtt_retained_bytes', 'retainedBytes'],
    ['counter', 'mqtt_retained_dropped_total', 'retainedDropped'],
    ['counter', 'mqtt_sessions_expired_total', 'expired'],
    ['counter', 'mqtt_sessions_failures_total', 'failures'],
  ]
  return figures.map(([type, name, figure]) => ({
    type,
    name,
    help: metricHelp[name],
    value: () => sessions.stats()[figure],
  }))
}
