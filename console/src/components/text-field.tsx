import { Field, type FieldProps } from './field.tsx'

export interface TextFieldProps extends Pick<FieldProps, 'label' | 'hint' | 'problem'> {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly isRequired?: boolean
  readonly lengthMax?: number
  /** What is meant for machines is not looked at by a spelling checker. */
  readonly isCode?: boolean
  /** More than one: a text of several lines. */
  readonly rows?: number
  readonly placeholder?: string
}

/** A text with its label, its hint, and what is wrong with it. */
export function TextField(props: TextFieldProps) {
  const { label, hint, problem, value, onValue, rows = 1 } = props
  const { isRequired = false, isCode = false, lengthMax, placeholder } = props
  return (
    <Field
      label={label}
      hint={hint}
      problem={problem}
      control={(tied) => {
        const same = {
          ...tied,
          value,
          required: isRequired,
          spellcheck: !isCode,
          ...(!isCode && { dir: 'auto' as const }),
          ...(lengthMax !== undefined && { maxLength: lengthMax }),
          ...(placeholder !== undefined && { placeholder }),
        }
        return rows > 1 ? (
          <textarea
            {...same}
            rows={rows}
            onInput={({ currentTarget }) => onValue(currentTarget.value)}
          />
        ) : (
          <input
            {...same}
            autocomplete="off"
            onInput={({ currentTarget }) => onValue(currentTarget.value)}
          />
        )
      }}
    />
  )
}
