import * as s from '../../requests/http/schema.ts'

/** Seconds for which the secret before stays good. */
export const usualOverlapS = 86_400

export const rotationSchema = s.record(
  {
    secret: { ...s.text, minLength: 1, maxLength: 2_000 },
    overlapSeconds: s.integer(0, 604_800, { default: usualOverlapS }),
  },
  {
    optional: ['overlapSeconds'],
    examples: [{ secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD', overlapSeconds: 3_600 }],
  },
)

export const rotatedSchema = s.record({
  streamId: s.uuid,
  previousUntil: {
    ...s.nullable(s.dateTime),
    description: 'Until when the old secret is good; null: no longer.',
  },
})
