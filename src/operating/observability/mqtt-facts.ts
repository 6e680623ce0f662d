import type { MqttBroker, MqttBrokerStats } from '../../../connectors/mqtt-broker/mqtt-broker.ts'
import type { CounterByReason, Metric } from './metrics.ts'

type Figure = readonly [Metric['type'], string, string, (stats: MqttBrokerStats) => number]

const figures: readonly Figure[] = [
  ['gauge', 'mqtt_connections', 'MQTT clients', (stats) => stats.connections],
  ['gauge', 'mqtt_connections_open', 'Before CONNECT, too', (stats) => stats.open],
  ['counter', 'mqtt_published_total', 'MQTT messages', (stats) => stats.published],
  ['counter', 'mqtt_dropped_total', 'To nothing of the client', (stats) => stats.dropped],
  ['counter', 'mqtt_delivered_total', 'Sent to subscribers', (stats) => stats.delivered],
  ['gauge', 'mqtt_fan_out_waiting', 'To be passed on', (stats) => stats.fanOutWaiting],
  ['counter', 'mqtt_fan_out_dropped_total', 'Not passed on', (stats) => stats.fanOutDropped],
  ['counter', 'mqtt_filters_refused_total', 'Beyond a limit', (stats) => stats.filtersRefused],
  ['gauge', 'mqtt_half_sent_bytes', 'Of packets not complete', (stats) => stats.halfSentBytes],
  ['gauge', 'mqtt_topic_names', 'Of topics that are remembered', (stats) => stats.topicNames],
  ['gauge', 'mqtt_unread_bytes', 'Not read by subscribers', (stats) => stats.unreadBytes],
  ['counter', 'mqtt_undelivered_total', 'To slow subscribers', (stats) => stats.undelivered],
]

/** The figures of the MQTT broker; all are 0 without one. */
export function mqttMetrics(mqtt: MqttBroker | undefined): readonly Metric[] {
  return figures.map(([type, name, help, value]) => ({
    type,
    name,
    help,
    value: () => (mqtt ? value(mqtt.stats()) : 0),
  }))
}

/** What the broker counts by its reason. */
export function mqttCountersByReason(mqtt: MqttBroker | undefined): readonly CounterByReason[] {
  return [
    {
      name: 'mqtt_refused_total',
      help: 'MQTT connections beyond a limit',
      values: () => mqtt?.stats().refused ?? {},
    },
    {
      name: 'mqtt_closed_total',
      help: 'MQTT connections closed by us',
      values: () => mqtt?.stats().closed ?? {},
    },
  ]
}
