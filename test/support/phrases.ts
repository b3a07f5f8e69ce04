/** A phrase that must not occur in docs, help texts and messages, and what to write instead. */
export interface Phrase {
  readonly pattern: RegExp;
  readonly instead: string;
}

/**
 * A phrase in any case, also where a line ends within it.
 * @param words a regular expression in which a space matches any white space
 */
const phrase = (words: string, instead: string): Phrase => ({
  pattern: new RegExp(`(?<![\\w-])(?:${words.replaceAll(" ", "\\s+")})(?![\\w-])`, "i"),
  instead,
});

/** Riddles, inversions and machines that are described like people; plain technical English instead. */
export const phrases: readonly Phrase[] = [
  // A cluster and its machines
  phrase("(?:is|are|was|were|been|being) born", "is being bootstrapped"),
  phrase("(?:machine|server|tunnel|lab)s? (?:still )?lives?", "exists, runs"),
  phrase("(?:machine|lab|stack|server|namespace)s? (?:then )?goes?(?=[.,:;]| all | first| too| away)", "is removed"),
  phrase("(?:comes?|came) and (?:goes?|went)", "is created and removed"),
  phrase("may go(?! wrong)", "can be removed"),
  phrase("what (?:a|the) machine (?:was|is) made of", "the inputs of the machine"),
  phrase("stands?(?! for | in for )", "is; exists"),
  phrase("stays? away", "is not restarted"),
  phrase("without a word", "without closing its connections"),
  phrase("with all that it started", "with all its child processes"),
  phrase("beside each other", "on one machine, at the same time"),
  phrase("births?", "bootstrap, installation"),
  phrase("(?:goes|went) on(?! (?:the|a|an|each|every) )|go on with", "continues"),
  phrase("(?:when|until) (?:that|it) is over", "when it has ended"),
  phrase("for good(?! reasons?)", "permanently"),
  phrase("for ever", "forever"),

  // Machines that talk, know, obey and judge
  phrase("(?:says?|said) nothing", "reports nothing; is unset"),
  phrase("(?:knows?|knew) nothing", "has no information about"),
  phrase("(?:is|are|was|were|be) told", "is reported; is configured with"),
  phrase("told apart", "distinguished"),
  phrase("(?:speaks?|spoken) (?:only )?(?:tls|https?|to)", "uses"),
  phrase("(?:asks?|asked|asking) the machines?", "reads from the machine"),
  phrase("its last words", "last log line"),
  phrase("would obey", "control characters"),
  phrase("judges?|judged", "checks, verifies"),
  phrase("how the tunnel is", "the state of the tunnel"),
  phrase("goes by the", "uses the"),
  phrase("has noticed nothing|have noticed nothing", "is not affected"),
  phrase("(?:is|are) for machines", "prints JSON"),
  phrase("in vain", "without success"),
  phrase(
    "(?:machine|server|cloud|podman|api|nothing outside) (?:is|are|was|were|cannot be) asked",
    "is queried, is read",
  ),
  phrase("(?:is|are|was) said", "is described, is reported"),
  phrase("(?:comes?|came|come) to the tunnel", "has reached the tunnel"),
  phrase("comes? into the state", "is added to the state"),
  phrase("comes? near", "is passed to"),
  phrase("own word(?!s)", "what the cloud itself reports"),
  phrase("would take .{1,40}? for", "would treat as"),
  phrase("not take the payload", "does not accept the payload"),
  phrase("nor why not", "and not the reason"),

  // Persons who are not named
  phrase("whoever", "you; everyone who"),
  phrase("who may not", "if you cannot"),
  phrase("nobody could look", "it could not be examined"),
  phrase("for who is|to who has", "for those who"),
  phrase("of yours", "your, your own"),
  phrase("of ours", "our, this project's"),
  phrase("door of|behind a door", "proxy"),
  phrase("drops? who", "drops clients that"),

  // Existence and absence
  phrase("(?:is|are|was|were) there already|(?:is|are) already there", "exists"),
  phrase("not there; there", "unset; enabled"),
  phrase("nothing of a tunnel", "no part of a tunnel"),
  phrase("(?:is|are) there (?:yet|too|anyway|any more)", "exists, is connected"),
  phrase("(?:twice|once) there", "exists twice"),
  phrase("(?:not|never) known here", "not supported"),
  phrase("whatever (?:changed|is there|it leads)", "any; regardless of"),
  phrase("holds? (?:what was|two steps|the state of)", "contains"),
  phrase("at hand", "available"),
  phrase("absent is success", "already gone counts as success"),
  phrase("is really nothing left", "check that nothing is left behind"),
  phrase("what holds|holds if", "the default; applies if"),
  phrase("if you say nothing|if nothing is said", "by default"),

  // Errors and combinations
  phrase("(?<!by )mistakes?", "error"),
  phrase("all (?:errors|mistakes) are told", "all errors are reported"),
  phrase("mend(?:s|ed)?", "fix"),
  phrase("goes? together", "work, can be combined"),
  phrase("are so(?=[.,:;])", "hold"),
  phrase("as good as", "almost, equal to"),
  phrase("probably meant", "a suggestion"),

  // Made, laid, taken
  phrase("is made of stacks", "provides stacks"),
  phrase("the least identity", "a least-privilege identity"),
  phrase("lays? (?:it|them|the payload|down)(?: down)?|laid down", "applies, writes"),
  phrase("takes? (?:a lab|it|them) away|taken away", "removes"),
  phrase("in the place of", "replaces"),
  phrase("to the letter", "identical, unchanged"),
  phrase("(?:is|are|was|were) played(?: by)?", "is faked by"),
  phrase("(?:is|are|was|were) struck", "is injected"),
  phrase("git would take|takes? no secret", "git would commit"),
  phrase("out of the way", "avoids"),
  phrase("is what it was", "is unchanged"),
  phrase("the words are those", "the messages are those"),
  phrase("file to begin with", "as a starting point"),
  phrase("(?:one|a file|what|something) that is there", "an existing one"),
  phrase("the very", "exactly the"),
  phrase("bring (?:it|them|the file) back", "restore"),
  phrase("the way (?:behind|to (?:it|that))", "the route to"),
];
