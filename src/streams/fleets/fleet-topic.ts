import { deviceNameProblem } from '../../core/device-names.ts'

/** The level of a fleet's topic that names the device. */
export const deviceLevel = '{device}'

/** The filter that all topics of a fleet match (MQTT 5.0, section 4.7). */
export function filterOf(topic: string): string {
  return topic
    .split('/')
    .map((level) => (level === deviceLevel ? '+' : level))
    .join('/')
}

/** The device that a topic names which matches the filter of a fleet; undefined for a name that no device can have. */
export function deviceIn(topic: string, fleetTopic: string): string | undefined {
  const name = topic.split('/')[fleetTopic.split('/').indexOf(deviceLevel)]
  return deviceNameProblem(name) === undefined ? name : undefined
}

/** The topic that one device of a fleet publishes on. A name with a slash, or a wildcard, has none. */
export function topicOfDevice(fleetTopic: string, device: string): string | undefined {
  if (/[/+#]/.test(device)) return undefined
  return fleetTopic
    .split('/')
    .map((level) => (level === deviceLevel ? device : level))
    .join('/')
}
