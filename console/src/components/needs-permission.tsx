import { facts } from '../api/session.ts'

/** What is not shown because the key may not: which permission is missing, and who can give it. */
export function NeedsPermission({
  scopes,
  what,
}: {
  readonly scopes: readonly string[]
  readonly what: string
}) {
  const granted: readonly string[] = facts.value?.scopes ?? []
  const missing = scopes.filter((scope) => !granted.includes(scope))
  return (
    <div class="notice">
      <p>
        This key may not see {what}: it lacks the permission{missing.length > 1 && 's'}{' '}
        {missing.map((scope) => (
          <code key={scope}>{scope} </code>
        ))}
      </p>
      <p class="soft">Whoever has a key with keys:admin can make one that has it.</p>
    </div>
  )
}
