/** Every permission that a key can have (decisions.md#permissions). */
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

/** What a key must have to do something: one permission, each of several, or none in particular. */
export type NeededScope = Scope | readonly Scope[] | 'any'

/** The permissions that are needed, one by one. */
export function scopesNeeded(needed: NeededScope): readonly Scope[] {
  if (needed === 'any') return []
  return typeof needed === 'string' ? [needed] : needed
}

/** Ways to ask for scopes without listing them; `custom` lists them. */
export const permissions = ['read_only', 'read_write', 'admin', 'custom'] as const

export type Permission = (typeof permissions)[number]

const levels: Readonly<Record<Exclude<Permission, 'custom'>, (scope: Scope) => boolean>> = {
  read_only: (scope) => scope.endsWith(':read'),
  read_write: (scope) => scope.endsWith(':read') || scope.endsWith(':write'),
  admin: (scope) => scope !== 'platform:admin',
}

/**
 * The scopes of a permission level (decisions.md#permissions); `platform:admin` is in none of them.
 */
export function scopesOf(permission: Exclude<Permission, 'custom'>): readonly Scope[] {
  return scopes.filter(levels[permission])
}

/** The permissions in a space-separated list. */
export function scopesIn(granted: string): readonly string[] {
  return granted.split(' ').filter((scope) => scope !== '')
}

/** Whether a space-separated list of permissions holds one of them. */
export function grants(granted: string, scope: Scope): boolean {
  // Asked for every request, so no list is made of it.
  return ` ${granted} `.includes(` ${scope} `)
}

/** Scopes that are in both of two space-separated lists, in the order of the first. */
export function commonScope(one: string, other: string): string {
  if (one === other) return one
  const granted = new Set(other.split(' '))
  return one
    .split(' ')
    .filter((scope) => granted.has(scope))
    .join(' ')
}

/** Scopes that are wanted, and that a space-separated list does not hold. */
export function missingScopes(granted: string, wanted: readonly string[]): readonly string[] {
  const held = new Set(granted.split(' '))
  return wanted.filter((scope) => !held.has(scope))
}
