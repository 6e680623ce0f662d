/** The level of a fleet's topic that names the device. */
export const deviceLevel = '{device}'

/** Names are tags of streams, levels of topics and parts of addresses. */
export const deviceNameLengthMax = 128

// oxlint-disable-next-line no-control-regex
const unfit = /[\u0000-\u001f\u007f-\u009f\ud800-\udfff]/u

/** What is wrong with a text as the name of a device, if anything is. */
export function deviceNameProblem(name: unknown): string | undefined {
  if (typeof name === 'string' && name.length <= deviceNameLengthMax) {
    if (name.trim() !== '' && !unfit.test(name)) return undefined
  }
  return `must name a device: a text of 1 to ${deviceNameLengthMax} characters without control characters`
}

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
