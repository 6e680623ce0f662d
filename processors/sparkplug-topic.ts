/** Topics of Sparkplug 3.0, section 4: `spBv1.0/{group}/{type}/{node}[/{device}]`. */

export interface SparkplugTopic {
  readonly group: string
  readonly type: SparkplugType
  readonly node: string
  /** Undefined: the message is about the edge node itself. */
  readonly device: string | undefined
}

const ofNodes = ['NBIRTH', 'NDEATH', 'NDATA', 'NCMD'] as const
const ofDevices = ['DBIRTH', 'DDEATH', 'DDATA', 'DCMD'] as const

export type SparkplugType = (typeof ofNodes)[number] | (typeof ofDevices)[number]

const namespace = 'spBv1.0'

/** Names of edge nodes are remembered, and MQTT takes topics of 65,535 bytes. */
const topicLengthMax = 1_000

export function parseSparkplugTopic(topic: string): SparkplugTopic | undefined {
  if (topic.length > topicLengthMax) return undefined
  const [first, group = '', kind, node = '', device, ...more] = topic.split('/')
  if (first !== namespace || group === '' || node === '' || more.length > 0) return undefined
  const known: readonly SparkplugType[] = device === undefined ? ofNodes : ofDevices
  const type = known.find((one) => one === kind)
  return type === undefined || device === '' ? undefined : { group, type, node, device }
}

/** Where an edge node takes commands. */
export function commandTopicOf({ group, node }: SparkplugTopic): string {
  return `${namespace}/${group}/NCMD/${node}`
}

/** Whether whoever subscribes to a filter gets all that an edge node says, or only a part of it. */
export function seesWholeNodes(filter: string): boolean {
  const levels = filter.split('/')
  const end = levels.indexOf('#')
  // From the group on all types, and of them all devices.
  return end >= 0 && end <= 4 && (end <= 2 || levels[2] === '+')
}
