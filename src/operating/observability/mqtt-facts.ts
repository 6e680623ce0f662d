import type { MqttBroker, MqttBrokerStats } from '../../../connectors/mqtt-broker/mqtt-broker.ts'
import { type MetricName, metricHelp } from './metric-help.ts'
import type { CounterByReason, Metric } from './metrics.ts'

type Figure = readonly [Metric['type'], MetricName, (stats: MqttBrokerStats) => number]

const figures: readonly Figure[] = [
  ['gauge', 'mqtt_connections', (stats) => stats.connections],
  ['gauge', 'mqtt_connections_open', (stats) => stats.open],
  ['counter', 'mqtt_published_total', (stats) => stats.published],
  ['counter', 'mqtt_dropped_total', (stats) => stats.dropped],
  ['counter', 'mqtt_delivered_total', (stats) => stats.delivered],
  ['gauge', 'mqtt_fan_out_waiting', (stats) => stats.fanOutWaiting],
  ['counter', 'mqtt_fan_out_dropped_total', (stats) => stats.fanOutDropped],
  ['counter', 'mqtt_filters_refused_total', (stats) => stats.filtersRefused],
  ['gauge', 'mqtt_half_sent_bytes', (stats) => stats.halfSentBytes],
  ['gauge', 'mqtt_topic_names', (stats) => stats.topicNames],
  ['gauge', 'mqtt_unread_bytes', (stats) => stats.unreadBytes],
  ['gauge', 'mqtt_unrouted_topics', (stats) => stats.unrouted.topics],
  ['gauge', 'mqtt_unrouted_bytes', (stats) => stats.unrouted.bytes],
  ['counter', 'mqtt_undelivered_total', (stats) => stats.undelivered],
]

/** The figures of the MQTT broker; all are 0 without one. */
export function mqttMetrics(mqtt: MqttBroker | undefined): readonly Metric[] {
  return figures.map(([type, name, value]) => ({
    type,
    name,
    help: metricHelp[name],
    value: () => (mqtt ? value(mqtt.stats()) : 0),
  }))
}

/** What the broker counts by its reason. */
export function mqttCountersByReason(mqtt: MqttBroker | undefined): readonly CounterByReason[] {
  return [
    {
      name: 'mqtt_refused_total',
      help: 'MQTT connections refused because of a limit, by reason',
      values: () => mqtt?.stats().refused ?? {},
    },
    {
      name: 'mqtt_closed_total',
      help: 'MQTT connections that the service closed, by reason',
      values: () => mqtt?.stats().closed ?? {},
    },
    {
      name: 'mqtt_unrouted_total',
      help: 'Messages of MQTT clients dropped because they lead nowhere, by reason',
      values: () => mqtt?.stats().unrouted.dropped ?? {},
    },
  ]
}
