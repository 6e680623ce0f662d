/** Categories that preferences are set for (decisions.md#preferences). */
export const categories = [
  'vault_notifications',
  'stream_notifications',
  'data_attachment_notifications',
  'signature_notifications',
  'asset_notifications',
  'permission_notifications',
  'security_notifications',
] as const

export type Category = (typeof categories)[number]

const byFirstWord: Readonly<Record<string, Category>> = {
  vault: 'vault_notifications',
  stream: 'stream_notifications',
  data_attachment: 'data_attachment_notifications',
  signature: 'signature_notifications',
  asset: 'asset_notifications',
  security: 'security_notifications',
}

/** The category follows from the name: whatever is about permissions first, then what it is about. */
export function categoryOf(type: string): Category {
  if (/\.permission[._]/.test(type)) return 'permission_notifications'
  const category = byFirstWord[type.slice(0, type.indexOf('.'))]
  if (category === undefined) throw new Error(`no category of ${type}`)
  return category
}
