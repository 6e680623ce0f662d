import { describe, expect, test } from 'vitest'
import {
  addedField,
  draftOf,
  isSound,
  nameProblem,
  type Proposal,
  schemaOf,
} from '../../../console/src/first-stream/draft.ts'

const proposal: Proposal = {
  type: 'iot_sensor',
  source: {},
  schema: {
    temperature: { type: 'number', unit: 'C', missing: [null] },
    mode: { type: 'string', from: ['a.mode', 'mode'] },
  },
}

describe('a proposed definition', () => {
  test('is what was proposed, while nothing is changed', () => {
    expect(schemaOf(draftOf(proposal))).toEqual(proposal.schema)
  })

  test('reads a field of another name from where it was', () => {
    const [first, second] = draftOf(proposal).map((field) => ({
      ...field,
      name: ` my ${field.key} `,
    }))
    expect(schemaOf([first, second].filter((field) => field !== undefined))).toEqual({
      'my temperature': { type: 'number', unit: 'C', missing: [null], from: 'temperature' },
      'my mode': { type: 'string', from: ['a.mode', 'mode'] },
    })
  })

  test('loses what was proposed for the type before', () => {
    const changed = draftOf(proposal).map((field) => ({ ...field, type: 'boolean' as const }))
    expect(schemaOf(changed)).toEqual({
      temperature: { type: 'boolean', unit: 'C' },
      mode: { type: 'boolean', from: ['a.mode', 'mode'] },
    })
  })

  test('has no field that is not kept, and no unit that was taken away', () => {
    const changed = draftOf(proposal).map((field) => ({
      ...field,
      isKept: field.key !== 'mode',
      unit: ' ',
    }))
    expect(schemaOf(changed)).toEqual({ temperature: { type: 'number', missing: [null] } })
  })

  test('has the fields that somebody added', () => {
    const one = { ...addedField([]), name: 'a', unit: 'C' }
    const two = { ...addedField([one]), name: 'b', type: 'string' as const }
    expect(schemaOf([one, two])).toEqual({
      a: { type: 'number', unit: 'C' },
      b: { type: 'string' },
    })
  })

  test('can be made with at least one field, and a name for each', () => {
    const draft = draftOf(proposal)
    expect(isSound(draft)).toBe(true)
    expect(isSound([])).toBe(false)
    expect(isSound(draft.map((field) => ({ ...field, isKept: false })))).toBe(false)
    expect(isSound([...draft, addedField(draft)])).toBe(false)
  })

  test('needs a name for each field, and another for each', () => {
    const twice = draftOf(proposal).map((field) => ({ ...field, name: 'temperature' }))
    const none = draftOf(proposal).map((field) => ({ ...field, name: ' ' }))
    expect(twice.map((field) => nameProblem(twice, field))).toEqual([
      'another field has this name',
      'another field has this name',
    ])
    expect(none.map((field) => nameProblem(none, field))).toEqual([
      'a field needs a name',
      'a field needs a name',
    ])
    expect(draftOf(proposal).map((field) => nameProblem(draftOf(proposal), field))).toEqual([
      undefined,
      undefined,
    ])
  })
})
