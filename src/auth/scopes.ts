/** Every permission that a key can have (D12). */
export const scopes = [
  'vaults:read',
  'vaults:write',
  'streams:read',
  'streams:write',
  'data:read',
  'data:write',
  'attachments:read',
  'attachments:write',
  'notifications:read',
  'notifications:write',
  'webhooks:read',
  'webhooks:write',
  'keys:admin',
  'platform:admin',
] as const

export type Scope = (typeof scopes)[number]

/** Whether a space-separated list of permissions holds one of them. */
export function grants(granted: string, scope: Scope): boolean {
  return granted.split(' ').includes(scope)
}
