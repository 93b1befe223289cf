// Economic event codes: Switzerland.

/** Code to what it means (spec 2.9). */
export const chEventCodes: Readonly<Record<string, string>> = {
  GDP_GROWTH_RATE_QOQ: 'Real gross domestic product: growth over the quarter before.',
  GDP_GROWTH_RATE_YOY: 'Real gross domestic product: growth over the same quarter of the year before.',
  INFLATION_RATE_HEADLINE_YOY: 'Consumer prices: change over a year.',
  INFLATION_RATE_HEADLINE_MOM: 'Consumer prices: change over the month before.',
  INFLATION_RATE_CORE_YOY:
    'Consumer prices without fresh and seasonal products, energy and fuel: change over a year.',
  INFLATION_PPI_HEADLINE_MOM: 'Producer and import prices: change over the month before.',
  INFLATION_PPI_HEADLINE_YOY: 'Producer and import prices: change over a year.',
  EMPLOYMENT_UNEMPLOYMENT_RATE: 'Share of the labour force that is registered as unemployed.',
  EMPLOYMENT_UNEMPLOYMENT_RATE_SA:
    'Share of the labour force that is registered as unemployed, seasonally adjusted.',
  EMPLOYMENT_EMPLOYMENT_LEVEL: 'Jobs in industry and services at the end of the quarter.',
  CONSUMPTION_RETAIL_SALES_HEADLINE_YOY: 'Retail sales after inflation: change over a year.',
  CONSUMPTION_CONSUMER_CONFIDENCE_SECO:
    "The State Secretariat for Economic Affairs' survey of consumers; above 0 more are hopeful than not.",
  BUSINESS_LEADING_INDEX_KOF: "The KOF institute's economic barometer; 100 is the long-term average.",
  BUSINESS_PMI_MANUFACTURING_PROCURE:
    'The survey of purchasing managers in manufacturing by procure.ch; above 50 they report growth.',
  BUSINESS_PMI_SERVICES_PROCURE:
    'The survey of purchasing managers in services by procure.ch; above 50 they report growth.',
  BUSINESS_ECONOMIC_EXPECTATIONS_UBS:
    "UBS's survey of what financial analysts expect in six months; above 0 more are hopeful than not.",
  BUSINESS_INDUSTRIAL_PRODUCTION_YOY: 'Output of industry: change over a year.',
  HOUSING_PRICE_INDEX_YOY: 'Prices of homes, by the Federal Statistical Office: change over a year.',
  TRADE_BALANCE: 'Exports of goods less imports in the month, gold and other valuables not counted.',
  TRADE_EXPORTS_MOM: 'Exports of goods after inflation: change over the month before.',
  TRADE_IMPORTS_MOM: 'Imports of goods after inflation: change over the month before.',
  TRADE_CURRENT_ACCOUNT: 'Trade, income and transfers with the rest of the world in the quarter.',
  BONDS_AUCTION_CONFEDERATION_BOND: 'Auction of bonds of the Confederation: the accepted yield.',
  POLITICAL_EVENT_FEDERAL_VOTE: 'Vote of the people on federal questions.',
  POLITICAL_EVENT_FEDERAL_ELECTION: 'Election of the National Council and of most of the Council of States.',
  SNB_POLICY_INTEREST_RATE_DECISION: "The Swiss National Bank's decision on its policy rate.",
  SNB_POLICY_PRESS_CONFERENCE: "The Governing Board's press conference after a decision.",
  SNB_POLICY_MEETING_SUMMARY: "Summary of the Governing Board's discussion, four weeks after its decision.",
  SNB_POLICY_QUARTERLY_BULLETIN: "The Swiss National Bank's quarterly report on the economy and its policy.",
  SNB_POLICY_FOREIGN_CURRENCY_RESERVES:
    'Foreign currency that the Swiss National Bank holds at the end of the month.',
  SNB_POLICY_SIGHT_DEPOSITS:
    'Deposits with the Swiss National Bank in the week, a sign of its purchases of foreign currency.',
  SNB_SPEECH_CHAIRMAN: "Speech of the Chairman of the Swiss National Bank's Governing Board.",
  SNB_SPEECH_GOVERNING_BOARD: 'Speech of another member of the Governing Board.',
};
