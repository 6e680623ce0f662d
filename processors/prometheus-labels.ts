import { cutText } from '../src/core/cut-text.ts'

/** Most labels of one sample. */
export const labelsMax = 1_000

/** The label that is the name of a metric. */
export const nameLabel = '__name__'

/** Members of a sample that are not labels. */
const ofSample = ['metric', 'value']

/** Members that a reading of a series has by its labels. */
export type LabelMembers = Readonly<Record<string, string>>

/** Names and values in turns, as they were sent. */
export type Labels = readonly string[]

/**
 * The name of a metric and its labels as members of a reading, or what is wrong with them. A label without a value is
 * absent: that is what Prometheus makes of it. A label with the name of another member gets the prefix that Prometheus
 * gives to labels of its targets.
 *
 * @param own further members of the reading that are not labels
 */
export function labelMembers(
  metric: string | undefined,
  labels: Labels,
  own: readonly string[] = [],
): LabelMembers | string {
  if (labels.length > labelsMax * 2) return tooManyLabels
  const members: Record<string, string> = {}
  if (metric !== undefined) members['metric'] = metric
  for (let index = 0; index < labels.length; index += 2) {
    const label = labels[index] ?? ''
    const value = labels[index + 1] ?? ''
    if (label === nameLabel) {
      if (Object.hasOwn(members, 'metric')) return 'the metric has two names'
      members['metric'] = value
      continue
    }
    if (value === '') continue
    // It would become a prototype, and a definition cannot have such a field.
    if (label === '__proto__') return 'a field cannot have the name __proto__'
    if (label === '') return 'a label has no name'
    const isTaken = ofSample.includes(label) || own.includes(label)
    const name = isTaken ? `exported_${label}` : label
    if (Object.hasOwn(members, name)) return `it has the label ${cutText(name, 100)} twice`
    members[name] = value
  }
  return (members['metric'] ?? '') === '' ? 'the metric has no name' : members
}

export const tooManyLabels = `it has more than ${labelsMax} labels`
