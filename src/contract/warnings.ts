// Headers that tell what an answer has otherwise than one may think, each with words before its value.

export const warnings: readonly (readonly [header: string, words: string])[] = [
  ['X-As-Of-Limits', 'Not dated by the data, so as last imported'],
  ['X-Symbol-History', 'The symbol in this range'],
  ['X-Adjust-Incomplete', 'Actions that should adjust the bars and do not'],
  ['X-Adjusted-By', 'Actions that adjust the bars and are listed with extended=true alone'],
  ['X-Adjusted-Contracts', 'Contracts that a corporate action adjusted, left out (adjusted=true has them)'],
];
