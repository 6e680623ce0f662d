import { facts } from '../api/session.ts'

export interface NeedsPermissionProps {
  readonly scopes: readonly string[]
  /** What the key may not do with it. */
  readonly to?: string
  readonly what: string
}

/** What is not there because the key may not: which permission is missing, and who can give it. */
export function NeedsPermission({ scopes, to = 'see', what }: NeedsPermissionProps) {
  const granted: readonly string[] = facts.value?.scopes ?? []
  const missing = scopes.filter((scope) => !granted.includes(scope))
  return (
    <div class="notice">
      <p>
        This key may not {to} {what}: it lacks the permission{missing.length > 1 && 's'}{' '}
        {missing.map((scope) => (
          <code key={scope}>{scope} </code>
        ))}
      </p>
      <p class="soft">A user who has a key with keys:admin can make one that has it.</p>
    </div>
  )
}
