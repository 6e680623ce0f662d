/** What the format of a receipt is called in it. */
export const receiptFormat = 'streamvault-receipt-1'

/** What happened to a reading. */
export const outcomes = [
  'stored',
  'pending',
  'quarantined',
  'filtered',
  'unchanged',
  'duplicate',
  'gone',
] as const

export type Outcome = (typeof outcomes)[number]
