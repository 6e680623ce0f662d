import type { MqttSessionStats } from '../../ingest/mqtt-sessions/mqtt-sessions.ts'
import type { Metric } from './metrics.ts'

/** What is kept for MQTT clients, and what found no room. */
export function mqttSessionMetrics(sessions: { stats(): MqttSessionStats }): readonly Metric[] {
  const figures: readonly [Metric['type'], string, string, keyof MqttSessionStats][] = [
    ['gauge', 'mqtt_sessions', 'Kept for clients that come back', 'sessions'],
    ['gauge', 'mqtt_subscriptions', 'Of these sessions', 'subscriptions'],
    ['gauge', 'mqtt_queued_messages', 'Not acknowledged yet', 'queued'],
    ['gauge', 'mqtt_queued_bytes', 'Of these messages', 'queuedBytes'],
    ['counter', 'mqtt_queue_dropped_total', 'Found the queue full', 'queueDropped'],
    ['gauge', 'mqtt_retained_messages', 'Retained messages', 'retained'],
    ['gauge', 'mqtt_retained_bytes', 'Of these messages', 'retainedBytes'],
    ['counter', 'mqtt_retained_dropped_total', 'Delivered, not kept', 'retainedDropped'],
    ['counter', 'mqtt_sessions_expired_total', 'Not used for long', 'expired'],
    ['counter', 'mqtt_sessions_failures_total', 'Batches not written', 'failures'],
  ]
  return figures.map(([type, name, help, figure]) => ({
    type,
    name,
    help,
    value: () => sessions.stats()[figure],
  }))
}
